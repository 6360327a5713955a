import GodwitReplication
import GodwitTestKit
import GodwitTree
import Testing

/// The graph of states, as the design that it comes from describes it.
@Suite struct StateGraphTests {
    private static let bread: Value = ["name": "Groceries", "items": [["name": "Bread"]]]
    private static let crossed: Value = [
        "name": "Groceries", "items": [["name": "Bread", "crossed": true]],
    ]
    private static let wine: Value = [
        "name": "Groceries", "items": [["name": "Bread", "crossed": true], ["name": "Wine"]],
    ]

    @Test func `clients get the deltas between their state and the head as one`() throws {
        var graph = StateGraph(named: "groceries")
        let first = try graph.commit(Self.bread).head
        try graph.setRef("A", to: first)
        try graph.setRef("B", to: graph.commit(Self.crossed).head)
        try graph.setRef("C", to: graph.commit(Self.wine).head)
        let updates = try ["A", "B", "C"].map { try graph.update(for: $0).delta }

        #expect(
            graph.edges.first?.delta.ednText() == #"{:items [{:name "Bread"}] :name "Groceries"}"#
        )
        #expect(updates[1].ednText() == #"{:items {:+ {1 {:name "Wine"}}}}"#)
        let both = #"{:items {:= {0 {:crossed true}} :+ {1 {:name "Wine"}}}}"#
        #expect(updates[0].ednText() == both)
        #expect(try Delta(edn: both) == updates[0])
        #expect(updates[2] == .keep)
        #expect(throws: StateGraphError.unknownClient("D")) { try graph.update(for: "D") }
    }

    @Test func `a state that no client has is folded, and the others stay what they are`() throws {
        var graph = StateGraph(named: "groceries")
        let states = try [Self.bread, Self.crossed, Self.wine].map { try graph.commit($0).head }
        try graph.setRef("B", to: states[1])
        let first = graph.collectOne()
        let fold = try #require(first)
        #expect(fold.state.id == states[0])
        #expect(fold.edges.map(\.parent) == [StateGraph.root])
        #expect(fold.edges.map(\.child) == [states[1]])
        #expect(graph.collectOne() == nil)
        try graph.setRef("B", to: states[2])
        #expect(graph.collect().map(\.state.id) == [states[1]])
        #expect(graph.states.map(\.id) == [StateGraph.root, states[2]])
        #expect(try graph.delta(from: StateGraph.root, to: states[2]).applied(to: [:]) == Self.wine)

        // The client has missed its update, and comes with a state that is gone.
        let more = Delta.diff(Self.crossed, Self.bread)
        #expect(throws: StateGraphError.unknownState(states[1])) {
            try graph.commit(more, on: states[1])
        }
        let whole = try graph.commit(.diff([:], Self.bread), on: StateGraph.root)
        #expect(graph[whole.head] == Self.wine)
    }

    @Test func `changes that were made apart are merged, and both sides learn the rest`() throws {
        var graph = StateGraph(named: "groceries")
        let base = try graph.commit(Self.bread).head
        try graph.commit(Self.crossed)
        let milk: Value = ["name": "Groceries", "items": [["name": "Milk"], ["name": "Bread"]]]
        let delta = Delta.diff(Self.bread, milk)
        let commit = try graph.commit(delta, on: base)
        #expect(try commit.rest.applied(to: milk) == graph[commit.head])
        #expect(
            graph[commit.head]
                == [
                    "name": "Groceries",
                    "items": [["name": "Milk"], ["name": "Bread", "crossed": true]],
                ]
        )
        #expect(graph.edges.filter { $0.child == commit.head }.count == 2)
        // Its answer was lost, and it is sent again.
        let again = try graph.commit(delta, on: base)
        #expect(again.head == commit.head)
        #expect(again.rest == commit.rest)
        #expect(graph.states.count == 5)
    }

    @Test func `a state that was sent is kept until its client has answered`() throws {
        var graph = StateGraph(named: "groceries")
        let first = try graph.commit(Self.bread).head
        try graph.setRef("phone", to: first)
        let sent = try graph.commit(Self.crossed).head
        #expect(try graph.update(for: "phone").head == sent)
        try graph.commit(Self.wine)
        graph.collect()
        try graph.setRef("phone", to: sent)
        graph.collect()
        #expect(graph[first] == nil)
        #expect(throws: StateGraphError.unknownState(first)) {
            try graph.setRef("phone", to: first)
        }
        #expect(graph.refs["phone"] == sent)
    }

    @Test func `each client's increment counts once, whatever answers are lost`() throws {
        var graph = StateGraph(named: "votes")
        let base = try graph.commit(["votes": 0]).head
        var value: Value = ["votes": 0]
        let vote = try value.edit { $0.votes += 1 }
        for client in ["A", "B"] { try graph.setRef(client, to: base) }
        for client in ["A", "B", "A", "B", "B"] {
            try graph.commit(vote, on: base, from: client)
            graph.collect()
        }
        #expect(graph[graph.head] == ["votes": 2])
        // By then both have had an answer.
        for client in ["A", "B"] { try graph.setRef(client, to: graph.head) }
        graph.collect()
        #expect(graph.states.count == 2)
    }

    @Test func `a client that says again what it had has its change counted once`() throws {
        var graph = StateGraph(named: "votes")
        let base = try graph.commit(["votes": 0]).head
        let value: Value = ["votes": 0]
        var voted = value
        let delta = try voted.edit { $0.votes += 1 }
        for client in ["A", "B"] { try graph.setRef(client, to: base) }
        try graph.commit(delta, on: base, from: "A")
        try graph.commit(.diff(value, ["votes": 5]), on: base, from: "B")
        // The answer is lost, and the client begins with what it has.
        try graph.setRef("A", to: base)
        graph.collect()
        let head = graph[graph.head]
        try graph.commit(delta, on: base, from: "A")
        #expect(graph[graph.head] == head)
    }

    @Test func `a client that never gets an answer does not keep all states`() throws {
        var graph = StateGraph(named: "votes")
        let base = try graph.commit(["votes": 0]).head
        try graph.setRef("A", to: base)
        for number in 1...1_000 {
            try graph.commit(["votes": .int(Int64(number))])
            _ = try graph.update(for: "A")
            try graph.setRef("A", to: base)
            graph.collect()
        }
        #expect(graph.states.count < 70)
        try graph.setRef("A", to: graph.head)
    }

    @Test func `a change counts once, however many answers are lost before it is sent again`()
        throws
    {
        var graph = StateGraph(named: "votes")
        let value: Value = ["votes": 0]
        let base = try graph.commit(value).head
        var voted = value
        let delta = try voted.edit { $0.votes += 1 }
        for client in ["A", "B"] { try graph.setRef(client, to: base) }
        try graph.commit(delta, on: base, from: "A")
        for number in 1...100 {
            try graph.commit(["votes": 1, "n": .int(Int64(number))])
            _ = try graph.update(for: "A")
            graph.collect()
        }
        try graph.commit(delta, on: base, from: "A")
        #expect(graph[graph.head] == ["votes": 1, "n": 100])
    }

    @Test func `a change of a state that was sent is read again, however many were sent since`()
        throws
    {
        var graph = StateGraph(named: "votes")
        try graph.setRef("A", to: graph.commit(["votes": 0]).head)
        try graph.commit(["votes": 0, "n": 0])
        let told = try graph.update(for: "A")
        var voted: Value = ["votes": 0, "n": 0]
        let delta = try voted.edit { $0.votes += 1 }
        try graph.commit(delta, on: told.head, from: "A")
        for number in 1...100 {
            try graph.commit(["votes": 1, "n": .int(Int64(number))])
            _ = try graph.update(for: "A")
            graph.collect()
        }
        try graph.commit(delta, on: told.head, from: "A")
        #expect(graph[graph.head] == ["votes": 1, "n": 100])
    }

    @Test func `a state that a commit without a change tells is kept until it is answered`() throws
    {
        var graph = StateGraph(named: "groceries")
        let base = try graph.commit(Self.bread).head
        try graph.setRef("A", to: base)
        let told = try graph.commit(Self.crossed).head
        #expect(try graph.commit(.keep, on: base, from: "A").head == told)
        try graph.commit(Self.wine)
        graph.collect()
        try graph.setRef("A", to: told)
    }

    /// Clients that write, miss updates and fall behind, with a collection after each step.
    @Test(arguments: 1...200)
    func `each client comes to the head, and few states are kept`(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        var graph = StateGraph(named: "numbers")
        let clients = ["A", "B", "C"]
        var copies = Dictionary(
            uniqueKeysWithValues: clients.map { ($0, (id: StateGraph.root, value: [:] as Value)) }
        )
        let start: Value = ["list": [0]]
        try graph.commit(start)
        for client in clients { copies[client] = (graph.head, start) }
        for client in clients { try graph.setRef(client, to: graph.head) }
        var added: [Int64] = [0]
        for number in 1...Int64(30) {
            let client = try #require(clients.randomElement(using: &random))
            let copy = try #require(copies[client])
            var value = copy.value
            let list = value["list"]?.list.map(Array.init) ?? []
            let place = Int.random(in: 0...list.count, using: &random)
            value = ["list": .list(Value.List(list[..<place] + [.int(number)] + list[place...]))]
            let delta = Delta.diff(copy.value, value)
            let commit = try graph.commit(delta, on: copy.id, from: client)
            added.append(number)
            // The answer may be lost: the client keeps its state, and sends the change again.
            if Int.random(in: 0..<4, using: &random) == 0 {
                graph.collect()
                let again = try graph.commit(delta, on: copy.id, from: client)
                #expect(graph[again.head] == graph[commit.head], "seed \(seed)")
            }
            let head = try commit.rest.applied(to: value)
            #expect(head == graph[graph.head], "seed \(seed)")
            copies[client] = (graph.head, head)
            try graph.setRef(client, to: graph.head)
            graph.collect()
            #expect(graph.states.count <= 2 * clients.count + 2, "seed \(seed)")
            for state in graph.states {
                #expect(state.id == StateGraph.root || state.id.content == state.value.digest)
            }
            for client in graph.refs.keys {
                var copy = graph
                let update = try copy.update(for: client)
                let base = try #require(graph[update.base])
                #expect(try update.delta.applied(to: base) == graph[graph.head], "seed \(seed)")
            }
        }
        let list = graph[graph.head]?["list"]?.list?.compactMap(\.integer)
        #expect(list?.sorted() == added, "seed \(seed)")
    }
}
