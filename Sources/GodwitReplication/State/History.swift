public import GodwitTree

// The states that a peer keeps, and the deltas between them.
//
// A history is a line: the root, then one state after the other, up to the head. Merges are made
// where they arrive, so a branch never stays. Each state but the root carries the delta from the
// state before it, in parts.
//
//   (1) An id is written once and never computed again.
//   (2) The value that the parts lead to has the content that the id names.
//   (3) Every state is reached from the root, which is the empty map.
//   (4) Serials ascend along the line, and are never given twice.
//   (5) Folding a state composes nothing that need not be: its parts go to the next state, and
//       two neighbouring parts become one only when the older is at most twice as large. So a
//       byte is composed O(log n) times, and the first, large part is left alone.
//   (6) The tail, changes behind the head that no id names yet, is kept in the same way. Naming
//       it makes it the head and composes nothing.

/// A line of states from the root to the head, and the unnamed changes behind it.
public struct History: Sendable {
    /// A retained state.
    public struct State: Sendable {
        public let id: StateID
        public let serial: Int64
        /// The deltas that lead here from the state before, one after the other.
        public fileprivate(set) var parts: [Part]
        /// The state's value, where it is known; values share what they have in common.
        fileprivate var value: Value?

        init(id: StateID, serial: Int64, parts: [Part]) {
            (self.id, self.serial, self.parts) = (id, serial, parts)
        }
    }

    /// A delta as it is stored.
    public struct Part: Sendable {
        public let number: Int64
        public let delta: Delta
        public let sizeInBytes: Int
    }

    /// From the root, which is always there, to the head.
    public private(set) var states: [State]
    /// Changes behind the head that belong to no state yet.
    private(set) var tail: [Part] = []
    /// The value of the head.
    public private(set) var headValue: Value
    private var log: PartLog

    /// A history with nothing but the root.
    public init() {
        states = [State(id: .root, serial: 0, parts: [])]
        headValue = .map([:])
        log = PartLog()
    }

    /// Restores a history from what was stored.
    ///
    /// - Throws: ``ReplicationError/damagedHistory(reason:)`` when the parts do not lead to the
    ///   head's content.
    init(
        restoring stored: [State],
        tail: [Part],
        lastPart: Int64
    ) throws(ReplicationError) {
        self.init()
        log = PartLog(lastNumber: lastPart)
        states += stored
        self.tail = tail
        headValue = try materialised(states.count - 1)
        guard headValue.digest == head.id.content else {
            throw .damagedHistory(reason: "the head's value is not what its id names")
        }
    }

    public var head: State { states[states.count - 1] }

    /// How many states are kept, the root not counted.
    public var stateCount: Int { states.count - 1 }
}

// MARK: - Growing and folding

extension History {
    /// Adds a state behind the head.
    ///
    /// - Precondition: `value` is what `delta` leads to from the head, and what `id` names.
    mutating func append(_ id: StateID, by delta: Delta, to value: Value) {
        let serial = head.serial + 1
        let part = log.insert(delta)
        states[states.count - 1].value = headValue
        states.append(State(id: id, serial: serial, parts: [part]))
        log.note(.setState(states[states.count - 1]))
        headValue = value
    }

    /// Adds a change to the tail.
    mutating func extendTail(by delta: Delta) throws(ReplicationError) {
        guard delta != .keep else { return }
        tail = try log.tiered(tail + [log.insert(delta)])
        log.note(.setTail(tail))
    }

    /// Makes one change of all in the tail.
    mutating func replaceTail(by delta: Delta) {
        for part in tail { log.remove(part) }
        tail = delta == .keep ? [] : [log.insert(delta)]
        log.note(.setTail(tail))
    }

    /// Makes a state of the tail.
    ///
    /// - Precondition: `value` is what the tail leads to, and what `id` names.
    mutating func nameTail(_ id: StateID, value: Value) {
        states[states.count - 1].value = headValue
        states.append(State(id: id, serial: head.serial + 1, parts: tail))
        tail = []
        log.note(.setState(head))
        log.note(.setTail(tail))
        headValue = value
    }

    /// Makes the head part of the tail again.
    mutating func unnameHead() throws(ReplicationError) {
        precondition(states.count > 1, "The root is never removed")
        let last = states.removeLast()
        tail = try log.tiered(last.parts + tail)
        log.note(.removeState(serial: last.serial))
        log.note(.setTail(tail))
        headValue = try materialised(states.count - 1)
    }

    /// Folds every state that is neither kept, nor the root, nor the head.
    mutating func fold(keeping kept: Set<StateID>) throws(ReplicationError) {
        var index = 1
        while index < states.count - 1 {
            guard !kept.contains(states[index].id) else {
                index += 1
                continue
            }
            let folded = states.remove(at: index)
            let parts = folded.parts + states[index].parts
            states[index].parts = try log.tiered(parts)
            log.note(.removeState(serial: folded.serial))
            log.note(.setState(states[index]))
        }
    }

    /// What has to be stored, or removed from storage, since this was last asked.
    mutating func takeWrites() -> [HistoryWrite] { log.takeWrites() }
}

// MARK: - Queries

extension History {
    /// Where a state is on the line, or nil when it is not kept.
    func index(of id: StateID) -> Int? { states.firstIndex { $0.id == id } }

    /// The kept state that a message names, or nil when none or several could be meant.
    func index(abbreviation: [UInt8]) -> Int? {
        let matches = states.indices.filter { states[$0].id.abbreviation == abbreviation }
        return matches.count == 1 ? matches[0] : nil
    }

    /// The value of a state.
    func value(at index: Int) throws(ReplicationError) -> Value {
        index == states.count - 1 ? headValue : try materialised(index)
    }

    private func materialised(_ index: Int) throws(ReplicationError) -> Value {
        let known = states[...index].lastIndex { $0.value != nil }
        var value = known.flatMap { states[$0].value } ?? [:]
        let first = known.map { $0 + 1 } ?? 0
        for part in states[first..<(index + 1)].flatMap(\.parts) {
            do throws(TreeError) {
                value = try part.delta.applied(to: value)
            } catch {
                throw .damagedHistory(reason: error.description)
            }
        }
        return value
    }

    /// The change that the tail makes to the head.
    func tailDelta() throws(ReplicationError) -> Delta {
        var result = Delta.keep
        for part in tail { result = try PartLog.compose(result, part.delta) }
        return result
    }

    /// The delta from one state to a later one.
    func delta(from source: Int, to target: Int) throws(ReplicationError) -> Delta {
        precondition(source <= target, "A delta leads down the line")
        var result = Delta.keep
        for part in states[(source + 1)..<(target + 1)].flatMap(\.parts) {
            result = try PartLog.compose(result, part.delta)
        }
        return result
    }
}

/// A change to what is stored of a history.
enum HistoryWrite {
    case insertPart(History.Part)
    case removePart(number: Int64)
    case setState(History.State)
    case removeState(serial: Int64)
    case setTail([History.Part])
}
