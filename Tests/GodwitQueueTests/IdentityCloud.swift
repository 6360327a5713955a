import GodwitQueue
import GodwitTestKit

/// A change of a tree whose nodes keep their identity, with the places as the app knows them.
enum NodeChange: Codable, Hashable, Sendable {
    case create(String, name: String, folders: [String])
    case write(String, content: Int, folders: [String])
    case move(String, from: String, folders: [String], to: String, newFolders: [String])
    case deleteTree(String, name: String, folders: [String])
}

struct ChangeNode: PushOperation {
    static let kind = "change-node"
    let change: NodeChange

    var footprint: Footprint {
        switch change {
        case .create(let node, let name, let folders):
            .create(node, in: RemoteSlot(name, in: folders))
        case .write(let node, _, let folders): .write(node, in: folders)
        case .move(let node, let name, let folders, let newName, let newFolders):
            .move(
                node,
                from: RemoteSlot(name, in: folders),
                to: RemoteSlot(newName, in: newFolders)
            )
        case .deleteTree(let node, let name, let folders):
            .deleteTree(node, in: RemoteSlot(name, in: folders))
        }
    }
}

/// A cloud that addresses by identity, and refuses what a real one would.
struct IdentityCloud: Hashable {
    struct Node: Hashable {
        /// nil for the root.
        var parent: String?
        var name: String
        var content = 0
    }

    private(set) var nodes: [String: Node] = [:]

    /// - Returns: Whether the cloud has done it.
    @discardableResult
    mutating func apply(_ change: NodeChange) -> Bool {
        switch change {
        case .create(let node, let name, let folders):
            guard nodes[node] == nil, isFree(name, in: folders.first) else { return false }
            nodes[node] = Node(parent: folders.first, name: name)
        case .write(let node, let content, _):
            guard nodes[node] != nil else { return false }
            nodes[node]?.content = content
        case .move(let node, _, _, let name, let folders):
            guard nodes[node] != nil, isFree(name, in: folders.first),
                folders.first != node, !chain(of: folders.first).contains(node)
            else { return false }
            nodes[node]?.parent = folders.first
            nodes[node]?.name = name
        case .deleteTree(let node, _, _):
            guard nodes[node] != nil else { return false }
            let tree = nodes.keys.filter { $0 == node || chain(of: $0).contains(node) }
            for other in tree { nodes[other] = nil }
        }
        return true
    }

    private func isFree(_ name: String, in folder: String?) -> Bool {
        let isThere = folder.map { nodes[$0] != nil } ?? true
        return isThere && !nodes.values.contains { $0.parent == folder && $0.name == name }
    }

    /// The folders that a node lies in, from the nearest on.
    func chain(of node: String?) -> [String] {
        var chain: [String] = []
        var next = node.flatMap { nodes[$0]?.parent }
        while let folder = next {
            chain.append(folder)
            next = nodes[folder]?.parent
        }
        return chain
    }

    /// A node and the folders above it; none for the root.
    private func folders(from folder: String?) -> [String] {
        folder.map { [$0] + chain(of: $0) } ?? []
    }

    /// A change that an app could make which sees this tree.
    func randomChange(_ number: Int, using random: inout Seeded) -> NodeChange {
        let names = nodes.keys.sorted()
        let folder = random.happens(0.4) ? nil : names.randomElement(using: &random)
        let name = ["a", "b"][Int.random(in: 0...1, using: &random)]
        guard let node = names.randomElement(using: &random), let known = nodes[node],
            !random.happens(0.35)
        else { return .create("n\(number)", name: name, folders: folders(from: folder)) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
            let content = Int.random(in: 1..<1_000, using: &random)
            return .write(node, content: content, folders: chain(of: node))
        case 2:
            return .move(
                node,
                from: known.name,
                folders: chain(of: node),
                to: name,
                newFolders: folders(from: folder)
            )
        default: return .deleteTree(node, name: known.name, folders: chain(of: node))
        }
    }
}
