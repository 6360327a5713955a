import Foundation
import Godwit
import GodwitTestKit

/// A document with a history: a real one where ../shared/data is there, or one made from a seed.
struct Document {
    let name: String
    private let load: () throws -> [Value]

    /// The last versions; no more than `count`.
    func versions(last count: Int) throws -> [Value] { Array(try load().suffix(count)) }

    /// Where real data is, if it is.
    static let dataFolder = URL(filePath: #filePath)
        .appending(path: "../../../../../shared/data").standardized

    static var all: [Document] {
        let folder = dataFolder
        let real = ["document", "catalog", "icons"].map { name in
            (name, folder.appending(path: "history-\(name).jsonl.xz").path)
        }
        guard real.allSatisfy({ FileManager.default.fileExists(atPath: $0.1) }) else {
            print("(../shared/data is not here: documents made from a seed)")
            return [100, 1_000, 10_000].map { size in
                Document(name: "\(size) items") { made(itemCount: size) }
            }
        }
        return real.map { name, path in
            Document(name: name) { try unpacked(path) }
        }
    }

    private static func unpacked(_ path: String) throws -> [Value] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xz", "--decompress", "--stdout", path]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try data.split(separator: UInt8(ascii: "\n")).suffix(201).map {
            try Value(json: Array($0))
        }
    }

    private static func made(itemCount: Int) -> [Value] {
        var random = Seeded(seed: 1)
        var items = (0..<itemCount).map { number -> Value in
            ["id": .int(Int64(number)), "name": "an item of the list", "done": false]
        }
        return (0...200).map { version in
            let index = Int.random(in: items.indices, using: &random)
            if var item = items[index].map {
                item["name"] = .string(Key("edited in version \(version)"))
                items[index] = .map(item)
            }
            return ["items": .list(items)]
        }
    }
}

/// The peer for bytes per edit: a patch between two JSON texts.
struct Zstd {
    let folder: TemporaryFolder

    /// The size of `zstd -19 --patch-from` for each version from the one before.
    func patchSizes(of versions: [Value]) throws -> [Int] {
        let (old, new, patch) = (folder.path("old"), folder.path("new"), folder.path("patch"))
        var sizes: [Int] = []
        for (before, after) in zip(versions, versions.dropFirst()) where before != after {
            try Data(before.jsonText().utf8).write(to: URL(filePath: old))
            try Data(after.jsonText().utf8).write(to: URL(filePath: new))
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "zstd", "-19", "-q", "-f", "--no-check", "--single-thread",
                "--patch-from=\(old)", new, "-o", patch,
            ]
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            let attributes = try FileManager.default.attributesOfItem(atPath: patch)
            sizes.append((attributes[.size] as? Int) ?? 0)
        }
        return sizes
    }
}
