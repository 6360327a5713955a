import GodwitStore
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = StoreCollection<Value>("cards")

/// What a server's starts tell of the line that was lost.
@Suite struct LineStartTests {
    private func write(_ names: String..., by pair: Pair) async throws {
        for name in names {
            try await pair.replica.store.write { try $0.set(["by": 1], for: name, in: cards) }
            try await pair.synchronize()
        }
    }

    private func restart(_ line: TestLine) { line.backup = line.backup }

    private func cardNames(_ line: TestLine) -> [String] {
        line.objects.keys.filter { $0.collection == "cards" }.map(\.key.text).sorted()
    }

    @Test func `a later backup keeps objects that a device of an earlier one never had`()
        async throws
    {
        let line = TestLine()
        let (first, second) = (
            try await Pair(Store(.memory), line), try await Pair(Store(.memory), line)
        )
        try await write("a", by: first)
        try await second.synchronize()
        let early = line.backup
        try await write("b", by: first)
        restart(line)
        try await write("c", by: first)
        let late = line.backup
        line.backup = early
        try await write("x", "y", "z", by: second)
        line.backup = late
        try await second.synchronize()
        #expect(cardNames(line) == ["a", "b", "c", "x", "y", "z"])
        try await first.synchronize()
        #expect(try await Set(first.objects().keys) == Set(second.objects().keys))
    }

    @Test(arguments: [1, 8, 40])
    func `what was removed stays removed however often the server is started afterwards`(
        count: Int
    ) async throws {
        let line = TestLine()
        let (first, second) = (
            try await Pair(Store(.memory), line), try await Pair(Store(.memory), line)
        )
        try await write("a", "b", by: first)
        try await second.synchronize()
        let backup = line.backup
        try await write("c", by: second)
        line.backup = backup
        try await first.replica.store.write { try $0.remove("a", in: cards) }
        try await first.synchronize()
        for number in 0..<count {
            restart(line)
            try await write("later \(number)", by: first)
        }
        for pair in [second, first, second] { try await pair.synchronize() }
        #expect(!cardNames(line).contains("a"))
        #expect(cardNames(line).contains("c"))
        #expect(try await Set(first.objects().keys) == Set(second.objects().keys))
    }
}
