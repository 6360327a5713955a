import Foundation
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitTool

/// Real package files, notebooks and maps in the layouts of many programs.
@Suite(
    .enabled(
        if: RealDocuments.isThere,
        "SKIPPED: ../shared/data is not here, so no real document was tried"
    )
)
struct RealDocumentTests {
    @Test(arguments: ["merges", "merges-2"])
    func `bytes come back, and an edit of one field changes one line`(file: String) throws {
        for (number, version) in try RealDocuments.versions(file).enumerated()
        where number.isMultiple(of: RealDocuments.stride) {
            var random = Seeded(seed: UInt64(number))
            var scribe = Scribe.random(&random)
            scribe.indentation = scribe.indentation ?? "  "
            let text = Array(scribe.text(version, seed: 7).utf8)
            let document = try Document(text)
            try #require(document.text(of: document.value) == text, "\(file) \(number)")
            guard let edited = version.editingOneScalar(&random) else { continue }
            let new = document.text(of: edited)
            try #require(try Document(new).value == edited, "\(file) \(number)")
            // An item whose identity changed is another item, and is written anew.
            guard !Delta.diff(version, edited).ednText().contains(":+ {") else { continue }
            let count = Self.changedLineCount(text, new)
            try #require(count == 1, "\(file) \(number): \(count) lines changed")
        }
    }

    @Test(arguments: ["merges", "merges-2"])
    func `a merge with one side alone gives that side's bytes`(file: String) throws {
        for (number, sides) in try RealDocuments.merges(file).enumerated()
        where number.isMultiple(of: RealDocuments.stride) {
            var random = Seeded(seed: UInt64(number))
            let scribe = Scribe.random(&random)
            let document = { (value: Value) in
                try Document(Array(scribe.text(value, seed: 7).utf8))
            }
            let (base, ours) = (try document(sides.base), try document(sides.ours))
            for (our, their) in [(ours, base), (base, ours), (ours, ours)] {
                let merge = DocumentMerge(base: base, ours: our, theirs: their, policy: .standard)
                try #require(merge.text == ours.bytes, "\(file) \(number)")
            }
        }
    }

    @Test(arguments: ["merges", "merges-2"])
    func `a merged text says what the merged value says`(file: String) throws {
        for (number, sides) in try RealDocuments.merges(file).enumerated()
        where number.isMultiple(of: RealDocuments.stride) {
            var random = Seeded(seed: UInt64(number))
            let documents = try [sides.base, sides.ours, sides.theirs].map { value in
                try Document(Array(Scribe.random(&random).text(value, seed: 7).utf8))
            }
            let merge = DocumentMerge(
                base: documents[0],
                ours: documents[1],
                theirs: documents[2],
                policy: .standard
            )
            try #require(try Document(merge.text).value == merge.merge.value, "\(file) \(number)")
        }
    }

    /// How many lines are others, when as many are there.
    private static func changedLineCount(_ old: [UInt8], _ new: [UInt8]) -> Int {
        let (old, new) = (old.split(separator: 0x0a), new.split(separator: 0x0a))
        guard old.count == new.count else { return max(old.count, new.count) }
        return zip(old, new).count { $0 != $1 }
    }
}

enum RealDocuments {
    struct Merge {
        let base: Value
        let ours: Value
        let theirs: Value
    }

    static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .appending(path: "../../../../shared/data").standardized

    /// Every so many are tried; with 1, all are, in a minute.
    static let stride = 7

    static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    static func merges(_ name: String) throws -> [Merge] {
        let process = Process()
        let output = Pipe.make()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xz", "-dc", folder.appending(path: "\(name).jsonl.xz").path]
        process.standardOutput = output
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try data.split(separator: UInt8(ascii: "\n")).map { line in
            let value = try Value(json: Array(line))
            return Merge(
                base: value["base"] ?? .null,
                ours: value["ours"] ?? .null,
                theirs: value["theirs"] ?? .null
            )
        }
    }

    static func versions(_ name: String) throws -> [Value] {
        try merges(name).flatMap { [$0.base, $0.ours, $0.theirs] }
    }
}

extension Value {
    /// This value with another scalar in one place; nil when a random way ends in a container.
    fileprivate func editingOneScalar(_ random: inout Seeded) -> Value? {
        switch self {
        case .map(var map):
            guard let entry = map.randomElement(using: &random),
                let edited = entry.value.editingOneScalar(&random)
            else { return nil }
            map[entry.key] = edited
            return .map(map)
        case .list(var items):
            guard let place = items.indices.randomElement(using: &random),
                let edited = items[place].editingOneScalar(&random)
            else { return nil }
            items[place] = edited
            return .list(items)
        default: return .string(Key("edited \(random.next())"))
        }
    }
}
