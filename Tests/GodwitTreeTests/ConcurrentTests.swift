import GodwitTestKit
import GodwitTree
import Testing

/// Values share chunks, and a chunk notes its digest: whoever has a copy may read, digest and edit
/// it, whatever others do with theirs.
@Suite struct ConcurrentTests {
    @Test func `tasks digest and edit copies of one value, each as if it was alone`() async throws {
        for seed in 0..<20 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let items = (0..<2_000).map { _ in Value.map(random.map(depth: 1)) }
            let shared = Value.list(items)
            let digest = Value.list(items).digest
            let digests = try await withThrowingTaskGroup(of: [ContentDigest].self) { group in
                for task in 0..<8 as Range<UInt64> {
                    group.addTask { try Self.edit(shared, Seeded(seed: seed << 8 | task)) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(digests.count == 8 && digests.allSatisfy { $0 == digest }, "seed \(seed)")
        }
    }

    /// - Returns: The digest of the value that was shared, after the copy was edited.
    private static func edit(_ shared: Value, _ seeded: Seeded) throws -> [ContentDigest] {
        var (random, copy) = (seeded, shared)
        for _ in 0..<50 {
            let place = Int.random(in: 0..<2_000, using: &random)
            let other = Int.random(in: 0..<2_000, using: &random)
            let value = random.value(depth: 1)
            try copy.edit {
                $0[place] = value
                $0.list.move(from: place, to: other)
            }
            if random.happens(0.5) { _ = copy.digest }
        }
        let whole = try Value(canonicalBytes: copy.canonicalBytes)
        return whole.digest == copy.digest ? [shared.digest] : []
    }
}
