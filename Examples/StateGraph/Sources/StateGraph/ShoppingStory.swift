import Godwit

/// A shopping list as states, from the first item to two phones that meet again.
///
/// The figures are those of "Whoops, I built a data replication engine (2/3)": states with ids, the
/// deltas between them, the collection of states that no client has, a lost message; and what comes
/// after them, a merge.
@main
struct ShoppingStory {
    private var graph = StateGraph(named: "Groceries")

    static func main() throws {
        var story = ShoppingStory()
        try story.states()
        try story.collection()
        try story.lostMessage()
        try story.divergence()
    }

    // MARK: The figures

    private mutating func states() throws {
        title("Each edit is a state, and an edge with the delta that leads to it")
        print(row(of: graph.states[0]))
        try change { $0 = ["name": "Groceries", "items": [["name": "Bread"]]] }
        try change { $0 = try $0.edited { $0.items[0].count = 2 } }
        try graph.setRef("A", to: graph.head)
        try change { $0 = try $0.edited { $0.items[0].crossed = true } }
        try graph.setRef("B", to: graph.head)
        try change { $0 = try $0.edited { $0.items.list.append(["name": "Wine"]) } }
        try graph.setRef("C", to: graph.head)
    }

    private mutating func collection() throws {
        title("What each client is sent: the deltas since its state, as one")
        for client in graph.refs.keys.sorted() {
            print("client \(client)  \(try graph.update(for: client).delta.ednText())")
        }
        title("Step 1: the states, and who has them")
        printLine()
        title("Step 2: states that no client has are folded; client B is up to date")
        collect()
        try graph.setRef("B", to: graph.head)
        printLine()
        title("Step 3: so is the state that client B had")
        collect()
        printLine()
    }

    private mutating func lostMessage() throws {
        title("Client A comes with a state that is gone: it sends all that it has")
        let old = graph.refs["A"] ?? graph.head
        let value = graph[old] ?? [:]
        graph.removeRef("A")
        collect()
        let milk = try value.edited { $0.items.list.append(["name": "Milk"]) }
        do {
            try graph.commit(.diff(value, milk), on: old)
        } catch {
            print("the server: \(error)")
        }
        let whole = Delta.diff([:], milk)
        print("client A  \(whole.ednText())")
        let commit = try graph.commit(whole, on: StateGraph.root, from: "A")
        print("the head  \(graph[commit.head]?.ednText() ?? "")")
        try graph.setRef("A", to: commit.head)
    }

    private mutating func divergence() throws {
        title(
            "Two clients edit one state, and neither knows of the other: a state with two parents"
        )
        let (base, value) = (graph.head, graph[graph.head] ?? [:])
        let edits = [
            ("B", try value.edited { $0.items[1].crossed = true }),
            ("C", try value.edited { $0.items.list.move(from: 1, to: 0) }),
        ]
        for (client, edited) in edits {
            let commit = try graph.commit(.diff(value, edited), on: base, from: client)
            print("client \(client)  \(Delta.diff(value, edited).ednText())")
            print("  has to do   \(commit.rest.ednText())")
            try graph.setRef(client, to: commit.head)
        }
        printLine()
        print(row(of: graph.states[graph.states.count - 1]))
    }

    // MARK: Printing

    private func title(_ text: String) { print("\n\(text)\n") }

    private mutating func change(_ body: (inout Value) throws -> Void) throws {
        var value = graph[graph.head] ?? [:]
        try body(&value)
        try graph.commit(value)
        if let state = graph.states.last { print(row(of: state)) }
    }

    /// What the user sees, the data under it, and the state with its delta.
    private func row(of state: StateGraph.State) -> String {
        let items = state.value["items"]?.list.map(Array.init) ?? []
        let view = items.map { item in
            (item["crossed"] == true ? "[x] " : "[ ] ") + (item["name"]?.text ?? "")
        }
        let edges = graph.edges.filter { $0.child == state.id }
        let origin = edges.map { "  <- \($0.parent.short)  \($0.delta.ednText())" }
        return ([state.id.short + "  " + state.value.ednText()] + view.map { "  " + $0 } + origin)
            .joined(separator: "\n")
    }

    /// The states from the root to the head, with the clients that have them.
    private func printLine() {
        for state in graph.states {
            let clients = graph.refs.filter { $0.value == state.id }.keys.sorted()
            let mark = state.id == graph.head ? "  (head)" : ""
            let names = clients.map { "  client \($0)" }.joined(separator: ",")
            print("\(state.id.short)\(mark)\(names)")
        }
    }

    private mutating func collect() {
        for fold in graph.collect() { print("\(fold.state.id.short) is folded") }
    }
}

extension Value {
    /// The value after an edit.
    fileprivate func edited(_ body: (inout Draft) throws -> Void) throws -> Value {
        var value = self
        try value.edit(body)
        return value
    }
}
