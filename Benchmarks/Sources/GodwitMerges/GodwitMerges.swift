import Foundation
import GodwitTree

/// Merges what people have merged, and compares the results, beside peers in the same run.
///
/// `godwit-merges [--list] [--json] [--nbdime COMMAND] FILE…`, where FILE (or FILE.xz) has one
/// JSON object on each line: `repo`, `commit`, `path`, `base`, `ours`, `theirs` and `merged`, what
/// people settled on. `--list` shows the merges that came out differently. The exit code is 1 when
/// a target is missed.
@main
struct GodwitMerges {
    static func main() throws {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            print("usage: godwit-merges [--list] [--json] [--nbdime COMMAND] FILE…")
            exit(64)
        }
        var cases: [MergeCase] = []
        for file in options.files {
            let name = URL(filePath: file).lastPathComponent
            cases += try lines(of: file).map { try MergeCase($0, of: name) }
        }
        let result = try Comparison(of: cases, options)
        print(options.isJSON ? try result.json : result.text)
        exit(result.targets.allSatisfy(\.isMet) ? 0 : 1)
    }

    private static func lines(of path: String) throws -> [[UInt8]] {
        let data =
            path.hasSuffix(".xz")
            ? try Command(["xz", "--decompress", "--stdout", path]).run().output
            : try Data(contentsOf: URL(filePath: path))
        return data.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }
}

/// What the command line asks for.
struct Options {
    private(set) var isList = false
    private(set) var isJSON = false
    /// The program that merges notebooks by nbdime, with its arguments.
    private(set) var nbdime: [String] = []
    private(set) var files: [String] = []

    init?(_ arguments: some Sequence<String>) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--list": isList = true
            case "--json": isJSON = true
            case "--nbdime":
                guard let command = rest.popFirst() else { return nil }
                nbdime = command.split(separator: " ").map(String.init)
            case _ where argument.hasPrefix("--"): return nil
            default: files.append(argument)
            }
        }
        guard !files.isEmpty else { return nil }
    }
}
