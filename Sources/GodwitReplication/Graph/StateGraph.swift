public import GodwitTree

// A graph of the states of one document, as git has one of commits.
//
//   (1) A state has an id, which begins with the digest of its value and is computed once. An edge has
//       the delta from its parent's value to its own.
//   (2) The root is the empty map. Every peer has it, and it is never collected.
//   (3) A state that is neither the root nor the head, that no client has, and that is not on its way to
//       or from one, may be folded: the deltas before and behind it become one. No id changes, and no
//       value.
//   (4) A change that was made on another state than the head is merged: the new head has two parents.

/// The states of one document, the deltas between them, and the refs of the clients that have them.
///
/// This is the model behind replication, to be driven and looked at by itself:
///
/// ```swift
/// var graph = StateGraph(named: "groceries")
/// let first = try graph.commit(["items": [["name": "Bread"]]])
/// try graph.setRef("phone", to: first.head)
/// try graph.commit(["items": [["name": "Bread"], ["name": "Wine"]]])
/// try graph.update(for: "phone").delta.ednText()   // {:items {:+ {1 {:name "Wine"}}}}
/// graph.collect()                                  // folds what no client has
/// ```
///
/// Replicas of a store have the same model object by object, and on disk: see ``Replica``.
public struct StateGraph: Sendable {
    /// A version of the document.
    public struct State: Hashable, Sendable {
        public let id: StateID
        public let value: Value
    }

    /// How a state came from an earlier one.
    public struct Edge: Hashable, Sendable {
        public let parent: StateID
        public let child: StateID
        public let delta: Delta
    }

    /// The result of a commit.
    public struct Commit: Sendable {
        /// The new head.
        public let head: StateID
        /// The change that brings the author from its own value to the head's.
        public let rest: Delta
        /// Changes that could not both stay.
        public let conflicts: [Conflict]
    }

    /// A change that brings a client up to date.
    public struct Update: Hashable, Sendable {
        /// The state that the client has.
        public let base: StateID
        public let head: StateID
        public let delta: Delta
    }

    /// One step of the collection: a state that was folded away, and the edges that lead past it now.
    public struct Fold: Hashable, Sendable {
        public let state: State
        public let edges: [Edge]
    }

    /// The document's name, which is part of each id.
    public let name: String
    /// The newest state.
    public private(set) var head: StateID
    /// The states that clients have, by the names of the clients.
    public private(set) var refs: [String: StateID] = [:]
    /// The states that were sent to clients, the last 64 to each, or came from them, and that they may not
    /// know of yet.
    public private(set) var pending: [String: Set<StateID>] = [:]
    /// Those that came from them, and on which these were made: without one, a change that is sent again
    /// would count twice, or could not be read.
    private var own: [String: Set<StateID>] = [:]
    /// The states that are kept, in the order of their commits; the root is the first.
    public private(set) var states: [State]
    /// Each edge comes after those that lead to its parent.
    public private(set) var edges: [Edge] = []
    private let policy: MergePolicy

    public init(named name: String, policy: MergePolicy = .standard) {
        (self.name, self.policy) = (name, policy)
        let root = State(id: Self.root, value: .map([:]))
        (head, states) = (root.id, [root])
    }

    /// The empty map.
    public static let root: StateID = {
        let digest = Value.map([:]).digest
        let lineage = [UInt8](repeating: 0, count: StateID.sizeInBytes - ContentDigest.sizeInBytes)
        guard let root = StateID(bytes: digest.bytes + lineage) else {
            preconditionFailure("A digest and its lineage are an id")
        }
        return root
    }()

    /// The value of a state; nil where it is not kept.
    public subscript(id: StateID) -> Value? { states.last { $0.id == id }?.value }
}

/// Why a state graph refuses a call.
public enum StateGraphError: Error, Hashable, Sendable {
    /// The state is not kept, or never was: the client sends all that it has, as a change of the root.
    case unknownState(StateID)
    /// No client of this name has a ref.
    case unknownClient(String)
    /// The newer state did not grow from the older one.
    case unrelatedStates(StateID, StateID)
}

extension StateGraphError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownState(let id): "the state \(id.short) is not kept"
        case .unknownClient(let name): "there is no client \"\(name)\""
        case .unrelatedStates(let old, let new):
            "the state \(new.short) did not grow from \(old.short)"
        }
    }
}

// MARK: - Commits

extension StateGraph {
    /// Adds a value on top of the head; a value that the head has adds nothing.
    @discardableResult
    public mutating func commit(_ value: Value) throws -> Commit {
        let old = try kept(head)
        return try commit(.diff(old, value, policy: policy), on: head)
    }

    /// Adds a change of a state, and merges it with what has changed since.
    ///
    /// The same change of the same state by the same client counts once: a client that has had no answer
    /// sends it again. Its state is kept until ``setRef(_:to:)`` says that the client has it, or one that
    /// grew from it.
    ///
    /// - Parameters:
    ///   - delta: The change from the base.
    ///   - base: The state that the change begins with.
    ///   - client: The author, which has a part in the state's id.
    /// - Throws: ``StateGraphError/unknownState(_:)``, or a `TreeError` when the delta was not made for
    ///   this state.
    @discardableResult
    public mutating func commit(
        _ delta: Delta,
        on base: StateID,
        from client: String? = nil
    ) throws -> Commit {
        let old = try kept(base)
        let new = try delta.applied(to: old)
        var theirs = State(id: base, value: old)
        defer {
            if let client {
                if theirs.id != base { own[client, default: []].formUnion([base, theirs.id]) }
                note([theirs.id, head], for: client)
            }
        }
        guard new != old else {
            let rest = try self.delta(from: base, to: head)
            return Commit(head: head, rest: rest, conflicts: [])
        }
        theirs = mint(new, parents: [base], author: client)
        if self[theirs.id] != nil, let rest = try? self.delta(from: theirs.id, to: head) {
            // The change is sent again, because its answer was lost.
            return Commit(head: head, rest: rest, conflicts: [])
        }
        add(theirs, from: base, by: delta)
        guard base != head else {
            head = theirs.id
            return Commit(head: head, rest: .keep, conflicts: [])
        }
        let ours = head
        let since = try self.delta(from: base, to: ours)
        let merge = try Merge(base: old, ours: since, theirs: delta, policy: policy)
        let merged = mint(merge.value, parents: [ours, theirs.id])
        add(merged, from: ours, by: merge.afterOurs)
        add(merged, from: theirs.id, by: merge.afterTheirs)
        head = merged.id
        return Commit(head: head, rest: merge.afterTheirs, conflicts: merge.conflicts)
    }

    private func kept(_ id: StateID) throws -> Value {
        guard let value = self[id] else { throw StateGraphError.unknownState(id) }
        return value
    }

    private func mint(_ value: Value, parents: [StateID], author: String? = nil) -> State {
        let origin = author.map { "\(name)\n\($0)" } ?? name
        let id = StateID(content: value.digest, replica: origin, parents: parents)
        return State(id: id, value: value)
    }

    private mutating func add(_ state: State, from parent: StateID, by delta: Delta) {
        if self[state.id] == nil { states.append(state) }
        add(Edge(parent: parent, child: state.id, delta: delta))
    }

    private mutating func add(_ edge: Edge) {
        if !edges.contains(edge) { edges.append(edge) }
    }
}

// MARK: - Refs and updates

extension StateGraph {
    /// Notes which state a client has.
    ///
    /// States that were sent to the client, or came from it, and that are not behind this one, are kept
    /// for it: it may not know of them yet.
    ///
    /// - Throws: ``StateGraphError/unknownState(_:)``; the ref stays where it was.
    public mutating func setRef(_ client: String, to state: StateID) throws {
        _ = try kept(state)
        refs[client] = state
        let rest = pending[client, default: []].filter { (try? delta(from: $0, to: state)) == nil }
        pending[client] = rest.isEmpty ? nil : rest
        own[client]?.formIntersection(rest)
    }

    /// Notes states that a client may have from now on, in place of the oldest that were sent to it.
    private mutating func note(_ new: Set<StateID>, for client: String) {
        let all = pending[client, default: []].union(new)
        let told = all.subtracting(own[client, default: []])
        guard told.count > Self.toldMax else { return pending[client] = all }
        let old = states.map(\.id).filter(told.contains).dropLast(Self.toldMax)
        pending[client] = all.subtracting(old)
    }

    private static let toldMax = 64

    /// Forgets a client: it sends all that it has when it returns.
    public mutating func removeRef(_ client: String) {
        (refs[client], pending[client], own[client]) = (nil, nil, nil)
    }

    /// The change that brings a client up to date.
    ///
    /// Its ref stays where it is until the client has answered, and the head is kept until then: see
    /// ``setRef(_:to:)``.
    public mutating func update(for client: String) throws -> Update {
        guard let base = refs[client] else { throw StateGraphError.unknownClient(client) }
        note([head], for: client)
        return Update(base: base, head: head, delta: try delta(from: base, to: head))
    }

    /// The change from a state to one that grew from it: the deltas between them as one.
    ///
    /// - Throws: ``StateGraphError/unrelatedStates(_:_:)``.
    public func delta(from old: StateID, to new: StateID) throws -> Delta {
        _ = (try kept(old), try kept(new))
        var ways = [old: Delta.keep]
        for edge in edges where ways[edge.child] == nil {
            guard let way = ways[edge.parent] else { continue }
            ways[edge.child] = try way.composed(with: edge.delta)
        }
        guard let way = ways[new] else { throw StateGraphError.unrelatedStates(old, new) }
        return way
    }
}

// MARK: - Collection

extension StateGraph {
    /// Folds the oldest state that no client needs into its neighbours; nil when there is none.
    ///
    /// A state from which two others grew stays for as long as both do.
    @discardableResult
    public mutating func collectOne() -> Fold? {
        let needed = pending.values.reduce(Set(refs.values).union([Self.root, head])) {
            $0.union($1)
        }
        let folded = states.first { state in
            !needed.contains(state.id) && edges.count { $0.parent == state.id } < 2
        }
        guard let folded else { return nil }
        let before = edges.filter { $0.child == folded.id }
        let behind = edges.first { $0.parent == folded.id }
        states.removeAll { $0.id == folded.id }
        edges.removeAll { $0.parent == folded.id || $0.child == folded.id }
        let replacements = before.compactMap { edge -> Edge? in
            guard let behind, let delta = try? edge.delta.composed(with: behind.delta) else {
                return nil
            }
            return Edge(parent: edge.parent, child: behind.child, delta: delta)
        }
        // All ways from one state to another lead to the same value: one is enough.
        let added = replacements.filter { (try? delta(from: $0.parent, to: $0.child)) == nil }
        for edge in added { add(edge) }
        sortEdges()
        return Fold(state: folded, edges: added)
    }

    /// Folds all states that no client needs.
    ///
    /// - Returns: The steps, in their order.
    @discardableResult
    public mutating func collect() -> [Fold] {
        var folds: [Fold] = []
        while let fold = collectOne() { folds.append(fold) }
        return folds
    }

    private mutating func sortEdges() {
        let places = Dictionary(uniqueKeysWithValues: states.enumerated().map { ($1.id, $0) })
        func place(_ edge: Edge) -> (Int, Int) {
            (places[edge.child] ?? 0, places[edge.parent] ?? 0)
        }
        edges.sort { place($0) < place($1) }
    }
}
