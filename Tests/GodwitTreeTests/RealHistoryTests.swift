import Foundation
import GodwitTestKit
import GodwitTree
import Testing

/// Every version of three real documents; the data stays where it is, beside the project.
@Suite(
    .enabled(
        if: RealHistory.isThere,
        "SKIPPED: ../shared/data is not here, so no real history was tried"
    )
)
struct RealHistoryTests {
    @Test(arguments: RealHistory.all)
    func `every version leads to the next and back, and all deltas are one`(
        history: RealHistory
    ) throws {
        var first: Value?
        var last: Value?
        var all = Delta.keep
        var count = 0
        for line in try history.lines() {
            let version = try Value(json: Array(line))
            defer { last = version }
            guard let old = last else {
                first = version
                continue
            }
            let delta = try Delta(canonicalBytes: Delta.diff(old, version).canonicalBytes)
            let forward = try delta.applied(to: old)
            try #require(forward.canonicalBytes == version.canonicalBytes, "version \(count + 1)")
            let back = try delta.inverted(on: old).applied(to: version)
            try #require(back.canonicalBytes == old.canonicalBytes, "version \(count + 1)")
            all = try all.composed(with: delta)
            count += 1
        }
        let base = try #require(first)
        let end = try all.applied(to: base)
        #expect(end.canonicalBytes == last?.canonicalBytes)
        #expect(count == history.editCount)
    }
}

/// One file of ../shared/data.
struct RealHistory: CustomTestStringConvertible {
    let name: String
    let editCount: Int

    static let all = [
        RealHistory(name: "catalog", editCount: 997),
        RealHistory(name: "document", editCount: 473),
        RealHistory(name: "icons", editCount: 997),
    ]

    static let folder = URL(filePath: #filePath).resolvingSymlinksInPath()
        .appending(path: "../../../../shared/data").standardized

    static var isThere: Bool { FileManager.default.fileExists(atPath: folder.path) }

    var testDescription: String { name }

    /// The lines of the unpacked file.
    func lines() throws -> [Data.SubSequence] { try Self.lines(of: "history-\(name)") }

    /// The lines of one file of the folder, unpacked.
    static func lines(of name: String) throws -> [Data.SubSequence] {
        let process = Process()
        let output = Pipe.make()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "xz", "--decompress", "--stdout",
            folder.appending(path: "\(name).jsonl.xz").path,
        ]
        process.standardOutput = output
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data.split(separator: UInt8(ascii: "\n"))
    }
}
