import Foundation
import GodwitTree

/// Merges what people have merged, and compares the results.
///
/// `godwit-merges FILE`, where FILE (or FILE.xz) has one JSON object on each line: `repo`,
/// `commit`, `path`, `base`, `ours`, `theirs` and `merged`, what people settled on.
@main
struct GodwitMerges {
    static func main() throws {
        guard let path = CommandLine.arguments.dropFirst().first else {
            print("usage: godwit-merges FILE")
            exit(64)
        }
        var table = Table()
        var listing: [String] = []
        for line in try lines(of: path) {
            let entry = MergeCase(try Value(json: Array(line)))
            let outcome = entry.outcome
            table.count(outcome)
            if outcome.isWorthListing { listing.append(entry.described(outcome)) }
        }
        listing.forEach { print($0) }
        print(table.text)
    }

    private static func lines(of path: String) throws -> [Data] {
        var data = Data()
        if path.hasSuffix(".xz") {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["xz", "--decompress", "--stdout", path]
            process.standardOutput = output
            try process.run()
            data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
        } else {
            data = try Data(contentsOf: URL(filePath: path))
        }
        return data.split(separator: UInt8(ascii: "\n")).map { Data($0) }
    }
}
