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
        var pairs: [Pair] = []
        for _ in 0..<3 { pairs.append(try await Pair(Store(.memory), line)) }
        try await write("a", by: pairs[0])
        for pair in pairs { try await pair.synchronize() }
        try await write("b", by: pairs[0])
        let backup = line.backup
        // The second device learns of "b" with a state that the backup does not have.
        try await write("c", by: pairs[2])
        try await pairs[1].synchronize()
        line.backup = backup
        try await pairs[0].replica.store.write { try $0.remove("b", in: cards) }
        try await pairs[0].synchronize()
        for number in 0..<count {
            restart(line)
            try await write("later \(number)", by: pairs[0])
        }
        for pair in [pairs[1], pairs[2]] + pairs { try await pair.synchronize() }
        #expect(!cardNames(line).contains("b"))
        #expect(cardNames(line).contains("c"))
        for pair in pairs {
            #expect(try await Set(pair.objects().keys.map(\.key.text)) == Set(cardNames(line)))
        }
    }
}
