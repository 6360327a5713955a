import Foundation
import GodwitTestKit
import GodwitTree
import Testing

// M8: a merge is the same everywhere. `Golden/merges.txt` has the digests of a thousand merges, a
// line for each. Two processes, whose hash seeds differ, come to these digests. A change of
// the merge changes them; see what it changed, then write the file anew:
//
//     GODWIT_WRITE_GOLDEN=1 swift test -c release -Xswiftc -enable-testing --filter MergeDigestTests

/// M8: merges do not depend on the machine, the process or its hash seed.
@Suite struct MergeDigestTests {
    private static let golden = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Golden/merges.txt")

    @Test func `a thousand merges have the digests that are checked in`() throws {
        let digests = Self.digests()
        if ProcessInfo.processInfo.environment["GODWIT_WRITE_GOLDEN"] != nil {
            try digests.write(to: Self.golden, atomically: true, encoding: .utf8)
        }
        let wanted = try String(contentsOf: Self.golden, encoding: .utf8)
        for (found, wanted) in zip(digests.lines, wanted.lines) { #expect(found == wanted) }
        #expect(digests.lines.count == wanted.lines.count)
    }

    @Test func `another process with another hash seed comes to the same thousand merges`()
        async throws
    {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent]
        ) {
            print("hash=\(MergeDigestTests.hashSeedWitness)")
            for line in MergeDigestTests.digests().lines { print("merges=\(line)") }
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let merges = output.values(of: "merges=")
        #expect(merges == Self.digests().lines)
        let hashSeed = try #require(output.values(of: "hash=").first)
        let isFixed = ProcessInfo.processInfo.environment["SWIFT_DETERMINISTIC_HASHING"] != nil
        #expect(isFixed || hashSeed != "\(Self.hashSeedWitness)")
    }

    /// Differs from process to process.
    private static var hashSeedWitness: Int { Key("a witness").hashValue }

    /// A line with its digest for each merge.
    private static func digests() -> String {
        (0..<UInt64(1_000)).map { seed in
            var sum = Checksum()
            sum.add(seed: seed)
            return "\(seed) \(sum)\n"
        }.joined()
    }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n").map(String.init) }

    /// The rest of each line that begins with a prefix.
    fileprivate func values(of prefix: String) -> [String] {
        lines.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}

/// FNV-1a of 64 bits, over canonical bytes: it depends on nothing that it checks.
private struct Checksum: CustomStringConvertible {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    var description: String { String(state, radix: 16) }

    /// Adds everything that one merge says.
    mutating func add(seed: UInt64) {
        var random = Seeded(seed: seed)
        let kind = random.pick(DocumentKind.allCases)
        let base = kind.document(&random)
        let (ours, theirs) = (random.revised(base), random.revised(base))
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        add(merge.value.canonicalBytes)
        for delta in [merge.delta, merge.afterOurs, merge.afterTheirs] { add(delta.canonicalBytes) }
        for conflict in merge.conflicts {
            let words = [conflict.path.description, "\(conflict.reason)", "\(conflict.choice)"]
            for word in words { add(Array(word.utf8)) }
            for value in [conflict.base, conflict.ours, conflict.theirs] {
                add(value?.canonicalBytes ?? [])
            }
        }
    }

    private mutating func add(_ bytes: [UInt8]) {
        for byte in bytes + [0xff] { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
