import GodwitStore
import GodwitTree
import Testing

@testable import GodwitReplication

/// Merges of a server without types, which the app's type cannot decode.
@Suite struct UnreadableMergeTests {
    enum Shape: Codable, Equatable, Sendable {
        case circle(Int), square(Int), triangle(Int)
    }

    private static let shapes = StoreCollection<Shape>("cards")

    private func draw(_ shape: Shape, _ pair: Pair) async throws {
        try await pair.replica.store.write { try $0.set(shape, for: "s", in: Self.shapes) }
    }

    /// Exchanges once, and does something between request and answer.
    private func exchange(_ pair: Pair, _ body: () async throws -> Void) async throws {
        let (replica, line) = (pair.replica, pair.line)
        let request = try await replica.store.write { try replica.nextRequest(in: $0) }
        let answer = try line.serve(request)
        try await body()
        _ = try await replica.store.write { try replica.receive(answer, to: request, in: $0) }
    }

    @Test
    func `an edit beside a merge that its device has yet to mend leaves an object to be read`()
        async throws
    {
        let line = TestLine()
        var options = Store.Options()
        options.collections = [CollectionRules(Self.shapes)]
        var pairs: [Pair] = []
        for _ in 0..<3 { pairs.append(try await Pair(Store(.memory, options: options), line)) }
        try await draw(.triangle(4), pairs[0])
        try await draw(.circle(5), pairs[1])
        try await pairs[0].synchronize()
        // The second device sends its circle, and what mends the merge is not sent yet.
        try await exchange(pairs[1]) {}
        #expect(line.objects[Self.shapes.place("s")]?.map?.count == 2)
        // The third one draws while the answer is under way.
        try await exchange(pairs[2]) { try await draw(.square(9), pairs[2]) }
        for pair in [pairs[1], pairs[2]] + pairs + pairs { try await pair.synchronize() }
        var found: [Shape?] = []
        for pair in pairs {
            found.append(try await pair.replica.store.read { try $0.get("s", in: Self.shapes) })
        }
        #expect(found[0] != nil && Set(found.map { "\($0 as Any)" }).count == 1)
    }
}
