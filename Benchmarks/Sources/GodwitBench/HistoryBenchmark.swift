import Foundation
import Godwit
import GodwitTestKit

/// The versions of real documents: what an edit takes on the wire, and how long it takes to find,
/// beside `zstd -19 --patch-from` on their texts.
struct HistoryBenchmark {
    let folder: TemporaryFolder
    let report: Report

    func run() throws {
        report.title("histories: bytes an edit, and ms to find it, beside zstd -19 --patch-from")
        for document in Document.all {
            let versions = try document.versions(last: 200)
            let (sizes, diffing) = try ours(versions)
            let zstd = Zstd(folder: folder)
            var peer: [Int] = []
            let patching = try wallSeconds { peer = try zstd.patchSizes(of: versions) }
            report.add(
                "\(document.name), median",
                Double(median(sizes)),
                Double(median(peer)),
                "B",
                .below
            )
            if let limit = Self.medianLimits[document.name] {
                report.add(
                    "\(document.name), median / limit",
                    Double(median(sizes)),
                    limit,
                    "B",
                    .below
                )
            }
            report.add(
                "\(document.name), mean",
                Double(mean(sizes)),
                Double(mean(peer)),
                "B",
                .below
            )
            let count = Double(max(1, peer.count))
            let (diff, patch) = (diffing * 1_000 / count, patching * 1_000 / count)
            report.add("\(document.name), diff", diff, patch, "ms", .atMost(0.2))
        }
    }

    /// What the medians were when they were last made smaller.
    private static let medianLimits = ["document": 42.5, "catalog": 82.5, "icons": 43.5]

    private func ours(_ versions: [Value]) throws -> ([Int], seconds: Double) {
        var sizes: [Int] = []
        var seconds = 0.0
        for (before, after) in zip(versions, versions.dropFirst()) where before != after {
            // As it comes from the app: nothing of the new version is known yet.
            let new = try Value(canonicalBytes: after.canonicalBytes)
            var delta = Delta.keep
            seconds += wallSeconds { delta = Delta.diff(before, new) }
            let bytes = try delta.packed(on: before)
            guard try Delta(packed: bytes, on: before).applied(to: before) == after else {
                throw WrongResult()
            }
            sizes.append(bytes.count)
        }
        return (sizes, seconds)
    }

    private func wallSeconds(_ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try body()
        return (clock.now - start) / .seconds(1)
    }
}

/// One edit of documents of 0.1, 1 and 10 MB, recorded as a draft: delta and new digest.
struct DocumentBenchmark {
    let report: Report

    private static let editCount = 2_000

    func run() throws {
        report.title("document: the delta and the digest of one recorded edit, CPU µs")
        for (name, count) in [("0.1 MB", 500), ("1 MB", 5_000), ("10 MB", 50_000)] {
            var random = Seeded(seed: 1)
            var document = Self.document(itemCount: count)
            let size = document.canonicalBytes.count
            let scratch = cpuSeconds { _ = document.digest }
            let states = [document]
            let taken = try cpuSeconds {
                for number in 0..<Self.editCount {
                    let place = Int.random(in: 0..<count, using: &random)
                    let delta = try document.edit { $0.items[place].done = number }
                    _ = (try delta.packed(on: states[0], .plain), document.digest)
                }
            }
            let microseconds = taken * 1e6 / Double(Self.editCount)
            report.add(
                .init(
                    name: "\(name), \(size) bytes",
                    ours: microseconds,
                    peer: 20,
                    unit: "µs",
                    target: .below
                )
            )
            report.note("    its digest from scratch: \(Int(scratch * 1_000)) ms")
        }
    }

    private static func document(itemCount: Int) -> Value {
        let text = String(repeating: "some words of a note; ", count: 6)
        let items = (0..<itemCount).map { number -> Value in
            [
                "id": .int(Int64(number)), "name": .string(Key("item \(number)")), "done": false,
                "note": .string(Key(text + "\(number)")),
                "tags": ["a", "b", .int(Int64(number % 7))],
            ]
        }
        return ["items": .list(items), "title": "a document"]
    }
}
