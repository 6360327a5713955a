import Foundation
import Godwit

// The treesystem of ZeroDark's push queue: nodes have paths, and the queue finds out by itself which
// operation has to wait for which other one. The first two stories are those of its documentation.

/// What is done to a node of the tree.
struct ChangeNode: PushOperation {
    static let kind = "change-node"

    enum Change: Codable, Sendable {
        case put(String), delete(String), move(String, String)
    }

    let name: String
    let change: Change

    var footprint: Footprint {
        switch change {
        case .put(let path): .put(RemotePath(path))
        case .delete(let path): .deleteTree(RemotePath(path))
        case .move(let path, let target): .move(RemotePath(path), to: RemotePath(target))
        }
    }
}

/// A node of the app: the queue uploads it without a call to `enqueue`.
struct Node: Codable, Sendable {
    var path: String
    var text: String
}

let nodes = Store.Collection<Node>("nodes")

@main struct Treesystem {
    static func main() async throws {
        try await tell(
            "Parents go before their children",
            [("opA", .put("/foo/bar")), ("opB", .put("/foo/bar/buzz"))]
        )
        try await tell(
            "What is deleted, made again, renamed and filled stays in order",
            [
                ("opA", .delete("/foo")), ("opB", .put("/foo")), ("opC", .move("/foo", "/moo")),
                ("opD", .put("/moo/cow")),
            ]
        )
        try await tell(
            "What has nothing in common goes side by side",
            [("opA", .put("/moo/cow")), ("opB", .put("/quack/duck"))]
        )
        try await enqueueByItself()
    }

    /// Enqueues each change in a commit of its own, shows what waits for what, and runs the queue.
    static func tell(_ title: String, _ changes: [(String, ChangeNode.Change)]) async throws {
        print(title)
        let store = try Store(.memory)
        let pipeline = Pipeline(order: .flat, maxConcurrent: 1).on(ChangeNode.self) { change, _ in
            print("  \(change.name) runs")
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        var names: [OperationID: String] = [:]
        for (name, change) in changes {
            let id = try await store.write {
                try $0.enqueue(ChangeNode(name: name, change: change))
            }
            names[id] = name
        }
        for operation in try await store.read({ try $0.operations() }) {
            let needs = try await store.read { try $0.dependencies(of: operation.id) }
            let waits = needs.compactMap { names[$0] }.sorted().joined(separator: ", ")
            print(
                "  \(names[operation.id] ?? "?") \(waits.isEmpty ? "is free" : "waits for \(waits)")"
            )
        }
        try await finish(queue, store)
    }

    /// A hook enqueues an operation for each node that a transaction changes.
    static func enqueueByItself() async throws {
        print("A node that is stored is uploaded by itself, with the data of the moment")
        let store = try Store(.memory)
        let pipeline = Pipeline(maxConcurrent: 1).on(ChangeNode.self) { change, _ in
            let node = try await store.read { try $0.get(change.name, in: nodes) }
            print("  \(change.name): \(node?.text ?? "deleted")")
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let uploads = AutomaticOperations(of: nodes) { change in
            let path =
                try change.newValue()?["path"]?.text ?? change.oldValue()?["path"]?.text ?? "/"
            let key = change.key.key.text
            let isRemoval = change.kind == .removed
            return [
                ChangeNode(
                    name: key,
                    change: isRemoval ? .delete(path) : .put(path)
                )
            ]
        }
        try store.addHook(uploads, named: "uploads")
        try await store.write { transaction in
            try transaction.set(Node(path: "/notes/one", text: "one"), for: "1", in: nodes)
            try transaction.set(Node(path: "/notes/two", text: "two"), for: "2", in: nodes)
        }
        try await store.write { transaction in
            try transaction.remove("1", in: nodes)
            try transaction.update("2", in: nodes) { $0.text = "two, edited" }
        }
        try await finish(queue, store)
    }

    private static func finish(_ queue: PushQueue, _ store: Store) async throws {
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        let last = try await store.read { $0.lastCommit }
        try await queue.finish(through: last)
        print("")
    }
}
