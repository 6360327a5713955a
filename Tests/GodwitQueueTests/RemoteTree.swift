import GodwitQueue
import GodwitStore
import GodwitTestKit

/// A change of a remote tree, as an operation of a test.
enum TreeChange: Codable, Hashable, Sendable {
    case makeFolder(String)
    case put(String, content: Int)
    case move(String, to: String)
    case copy(String, to: String)
    case delete(String)
    case deleteTree(String)
}

struct ChangeTree: PushOperation {
    static let kind = "change-tree"
    let change: TreeChange

    var footprint: Footprint {
        switch change {
        case .makeFolder(let path), .put(let path, _): .put(RemotePath(path))
        case .move(let path, let other): .move(RemotePath(path), to: RemotePath(other))
        case .copy(let path, let other): .copy(RemotePath(path), to: RemotePath(other))
        case .delete(let path): .delete(RemotePath(path))
        case .deleteTree(let path): .deleteTree(RemotePath(path))
        }
    }
}

/// A cloud that addresses by path, and refuses what a real one would.
struct PathCloud: Hashable {
    /// Folders have no content.
    private(set) var entries: [RemotePath: Int?] = [:]

    /// - Returns: Whether the cloud has done it.
    @discardableResult
    mutating func apply(_ change: TreeChange) -> Bool {
        switch change {
        case .makeFolder(let path): return put(RemotePath(path), nil)
        case .put(let path, let content): return put(RemotePath(path), content)
        case .move(let path, let other):
            return carry(RemotePath(path), to: RemotePath(other), keeps: false)
        case .copy(let path, let other):
            return carry(RemotePath(path), to: RemotePath(other), keeps: true)
        case .delete(let path):
            let path = RemotePath(path)
            guard entries[path] != nil, tree(path).count == 1 else { return false }
            entries[path] = nil
        case .deleteTree(let path):
            let tree = tree(RemotePath(path))
            for path in tree { entries[path] = nil }
            return !tree.isEmpty
        }
        return true
    }

    private mutating func put(_ path: RemotePath, _ content: Int?) -> Bool {
        guard isFolder(path.parent) else { return false }
        switch entries[path] {
        case .some(.none): return false
        case .some(.some) where content == nil: return false
        default: entries[path] = .some(content)
        }
        return true
    }

    private mutating func carry(_ path: RemotePath, to other: RemotePath, keeps: Bool) -> Bool {
        let tree = tree(path)
        let isInside = other.components.starts(with: path.components)
        guard !tree.isEmpty, isFolder(other.parent), entries[other] == nil, !isInside else {
            return false
        }
        let contents = tree.map { ($0, entries[$0] ?? nil) }
        if !keeps { for path in tree { entries[path] = nil } }
        for (old, content) in contents {
            let rest = old.components.dropFirst(path.components.count)
            entries[RemotePath(components: other.components + rest)] = .some(content)
        }
        return true
    }

    private func isFolder(_ path: RemotePath) -> Bool {
        if path.isRoot { return true }
        if case .some(.none) = entries[path] { return true }
        return false
    }

    private func tree(_ path: RemotePath) -> [RemotePath] {
        entries.keys.filter { $0.components.starts(with: path.components) }
    }
}

extension TreeChange {
    /// Any change over a handful of paths, whether it will work or not.
    static func random(using random: inout Seeded) -> TreeChange {
        switch Int.random(in: 0..<9, using: &random) {
        case 0...1: .makeFolder(path(&random))
        case 2...4: .put(path(&random), content: .random(in: 0..<1_000, using: &random))
        case 5: .move(path(&random), to: path(&random))
        case 6: .copy(path(&random), to: path(&random))
        case 7: .delete(path(&random))
        default: .deleteTree(path(&random))
        }
    }

    private static func path(_ random: inout Seeded) -> String {
        let depth = Int.random(in: 1...3, using: &random)
        return (0..<depth).map { _ in "/" + ["a", "b"][Int.random(in: 0...1, using: &random)] }
            .joined()
    }
}

extension Workbench {
    /// Enqueues changes in flat order, each in a commit of its own, and returns who waits for whom,
    /// by place.
    static func needs(_ changes: TreeChange...) async throws -> [[Int]] {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        var ids: [OperationID] = []
        for change in changes {
            ids.append(try await bench.store.write { try $0.enqueue(ChangeTree(change: change)) })
        }
        let found = try await bench.store.read { [ids] transaction in
            try ids.map { try transaction.dependencies(of: $0) }
        }
        return found.map { needs in needs.compactMap { ids.firstIndex(of: $0) }.sorted() }
    }
}
