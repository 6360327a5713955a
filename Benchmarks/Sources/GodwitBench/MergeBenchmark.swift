import Foundation
import Godwit
import GodwitTestKit

/// Merges of two recorded changes, and what they cost in small and in large documents.
///
/// The peer of a large document is one of a tenth of its size; that of a text, to apply both
/// changes to it.
struct MergeBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private struct Work {
        let base: Value
        /// Changes of both sides in several places: chunks differ in size.
        let changes: [(ours: Delta, theirs: Delta)]

        init(
            _ base: Value,
            _ places: [Int],
            _ change: (_ side: Int, _ place: Int) throws -> Delta
        )
            rethrows
        {
            self.base = base
            changes = try places.map { try (change(1, $0), change(2, $0)) }
        }

        /// The least processor time of a merge, in microseconds.
        func microseconds() throws -> Double {
            let seconds = try quickest(of: 20) {
                try cpuSeconds {
                    for change in changes {
                        _ = try Merge(base: base, ours: change.ours, theirs: change.theirs)
                    }
                }
            }
            return seconds * 1e6 / Double(changes.count)
        }
    }

    func run() throws {
        report.title("merge: two recorded changes of one document; the peer is a tenth of it")
        try compare("append twice, 50,000 items", appends(to: 5_000), appends(to: 50_000))
        try compare("edit twice, 10 MB", edits(of: 700), edits(of: 7_000))
        try compareValues()
        try compareText()
        try compareGit()
    }

    /// Merges of whole values, which share with their base what no side changed.
    private func compareValues() throws {
        func microseconds(_ work: Work) throws -> Double {
            let sides = try work.changes.map { change in
                (try change.ours.applied(to: work.base), try change.theirs.applied(to: work.base))
            }
            let seconds = quickest(of: 20) {
                cpuSeconds {
                    for (ours, theirs) in sides {
                        _ = Merge(base: work.base, ours: ours, theirs: theirs)
                    }
                }
            }
            return seconds * 1e6 / Double(sides.count)
        }
        report.add(
            .init(
                name: "edit twice, 10 MB, without deltas",
                ours: try microseconds(try edits(of: 7_000)),
                peer: try microseconds(try edits(of: 700)),
                unit: "µs",
                target: .atMost(2)
            )
        )
    }

    private func compare(_ name: String, _ small: Work, _ large: Work) throws {
        let (tenth, whole) = (try small.microseconds(), try large.microseconds())
        report.add(.init(name: name, ours: whole, peer: tenth, unit: "µs", target: .atMost(2)))
    }

    /// A text is one string, which is written anew.
    private func compareText() throws {
        let text = (0..<150_000).map { "word\($0 % 997)" }.joined(separator: " ")
        let base = Value.string(Key(text))
        let work = try Work(base, [300_000]) { side, offset in
            let splice = TextDelta.Splice(offset: offset * side, removed: 0, inserted: "new ")
            return try .text([splice])
        }
        let applying = try quickest(of: 20) {
            try cpuSeconds {
                _ = try work.changes[0].ours.applied(to: base)
                _ = try work.changes[0].theirs.applied(to: base)
            }
        }
        report.add(
            .init(
                name: "edit twice, text of 1 MB",
                ours: try work.microseconds(),
                peer: applying * 1e6,
                unit: "µs",
                target: .atMost(4)
            )
        )
    }

    /// git reads and compares all three files, each with a line for each value.
    private func compareGit() throws {
        let work = try edits(of: 7_000)
        let sides = [
            ("ours", try work.changes[0].ours.applied(to: work.base)), ("base", work.base),
            ("theirs", try work.changes[0].theirs.applied(to: work.base)),
        ]
        let paths = try sides.map { name, value in
            let path = folder.path("merge-\(name)")
            let text = value.jsonText(indentation: 1)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        let start = ContinuousClock().now
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "merge-file", "--stdout", "--quiet"] + paths
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            return report.note("git merge-file did not merge the document: left out")
        }
        let duration = ContinuousClock().now - start
        report.add(
            .init(
                name: "edit twice, 10 MB, by git",
                ours: try work.microseconds(),
                peer: duration / .microseconds(1),
                unit: "µs",
                target: .none
            )
        )
    }

    private func appends(to count: Int) throws -> Work {
        let base = Value.list(
            (0..<count).map { number in
                ["id": .string(Key("item-\(number * 7_919 % 100_003)")), "n": .int(Int64(number))]
            }
        )
        return try Work(base, [count]) { side, position in
            let item: Value = ["id": .string(Key("new-\(side)")), "n": .int(Int64(-side))]
            return try .list(ListDelta(inserts: [.init(position: position, value: item)]))
        }
    }

    /// Edits in two of ten lists of so many items, of about 140 bytes each.
    private func edits(of count: Int) throws -> Work {
        let note = String(repeating: "a note of some length ", count: 4)
        let lists = (0..<10).map { list in
            let items = (0..<count).map { number -> Value in
                [
                    "id": .string(Key("item-\(list)-\(number)")), "n": .int(Int64(number)),
                    "note": .string(Key("\(number) \(note)")),
                ]
            }
            return (Key("list\(list)"), Value.list(items))
        }
        let places = (1...9).map { $0 * count / 10 }
        return try Work(.map(Value.Map(lists)), places) { side, position in
            let delta = Delta.map(["crossed": .apply(.set(true))])
            let edit = ListDelta.Edit(position: position + side * 9, delta: delta)
            return try .map([Key("list\(side * 3)"): .apply(.list(ListDelta(edits: [edit])))])
        }
    }
}
