/// A document before operations that are undone, as far as it can be known.
struct UndoMachine {
    /// Stands for a part that may have been anything, or missing: no JSON has byte strings.
    private static let unknown = Value.bytes(Array("godwit: this part is unknown".utf8))

    private var document: Value
    private var hasSeen = false
    /// The keys that are missing because the patch has taken them away.
    private var vanished = PointerTree()
    /// Where the operations that are undone so far had put something in.
    private var filled: Set<JSONPointer> = []
    /// Whether an operation leaves no trace: nothing then tells whether it was done.
    private(set) var isUnsure = false

    init(document: Value) { self.document = document }

    var hasTrace: Bool { hasSeen || !vanished.isEmpty }

    /// Undoes the last operation.
    ///
    /// - Returns: Whether its trace is there.
    mutating func undo(_ operation: JSONPatch.Operation) -> Bool {
        switch operation {
        case .add(let pointer, let value): return takeOut(value, at: pointer)
        case .remove(let pointer): return putBack(Self.unknown, at: pointer)
        case .replace(let pointer, let value):
            guard let place = place(pointer) else { return false }
            return see(value, in: place.part) && set(Self.unknown, at: pointer)
        case .move(let from, let to):
            guard from != to else { return true }
            guard let part = place(to, orEnd: true)?.part else { return false }
            return takeOut(nil, at: to) && putBack(part, at: from)
        case .copy(let from, let to):
            guard let part = place(to, orEnd: true)?.part, takeOut(nil, at: to),
                let source = place(from)?.part
            else { return false }
            return see(part, in: source)
        case .test(let pointer, let value):
            guard let place = place(pointer) else { return false }
            return place.part.map { Self.matches(value, $0) } ?? false
        }
    }

    /// Undoes that a value was put in; nil where it is not known which.
    private mutating func takeOut(_ value: Value?, at pointer: JSONPointer) -> Bool {
        guard let place = place(pointer, orEnd: true), let part = place.part else { return false }
        filled.insert(pointer)
        vanished.remove(pointer.tokens[...])
        if let value, !see(value, in: part) { return false }
        if place.position != nil, !(value ?? part).isFilled { isUnsure = true }
        guard let position = place.position else { return set(Self.unknown, at: pointer) }
        return change(place.container) { $0.list { $0.remove(at: position) } }
    }

    /// Undoes that a part was taken away.
    private mutating func putBack(_ part: Value, at pointer: JSONPointer) -> Bool {
        guard let container = place(pointer)?.container, let last = pointer.tokens.last else {
            return false
        }
        switch value(at: container) {
        case .map(let map):
            // A missing key is a trace; a present key means the patch was not applied.
            if map[last] == nil, !filled.contains(pointer) {
                vanished.insert(pointer.tokens[...])
            }
            guard map[last].map({ $0 == Self.unknown }) ?? true else { return false }
            return change(container) { $0.map { $0[last] = part } }
        case .list(let items):
            guard let position = last.index, position <= items.count else { return false }
            isUnsure = true
            return change(container) { $0.list { $0.insert(part, at: position) } }
        default: return true
        }
    }

    private mutating func see(_ value: Value, in part: Value?) -> Bool {
        guard let part, Self.matches(value, part) else { return false }
        if part != Self.unknown { hasSeen = true }
        return true
    }

    /// Whether a part is a value, but for what is unknown of it.
    private static func matches(_ value: Value, _ part: Value) -> Bool {
        switch (value, part) {
        case (_, unknown): return true
        case (.list(let items), .list(let parts)):
            return items.count == parts.count
                && zip(items, parts).allSatisfy { matches($0, $1) }
        case (.map(let map), .map(let parts)):
            return map.allSatisfy { entry in
                parts[entry.key].map { matches(entry.value, $0) } ?? false
            } && parts.allSatisfy { map[$0.key] != nil || $0.value == unknown }
        default: return value.isSameJSON(as: part)
        }
    }
}

// MARK: - Places

extension UndoMachine {
    private struct Place {
        /// The way to the container, or to the part itself where that is the whole document.
        var container: [ValuePath.Step] = []
        /// The position in a list.
        var position: Int?
        var part: Value?
    }

    /// Where a pointer leads; the part is unknown where something above it is.
    ///
    /// - Parameter orEnd: Whether `-` stands for the last item, which was put in behind all others.
    private func place(_ pointer: JSONPointer, orEnd: Bool = false) -> Place? {
        guard let last = pointer.tokens.last else { return Place(part: document) }
        var place = Place()
        var container = document
        for token in pointer.tokens.dropLast() {
            guard container != Self.unknown else { break }
            guard let step = Self.step(token, in: container),
                let part = container.part(step)
            else { return nil }
            place.container.append(step)
            container = part
        }
        switch container {
        case Self.unknown: place.part = Self.unknown
        case .map(let map): place.part = map[last]
        case .list(let items):
            // Behind the last item there may be room for one that comes back.
            let end = orEnd && last == "-" ? items.count - 1 : nil
            guard let position = end ?? last.index else { return nil }
            place.position = position
            place.part = items.indices.contains(position) ? items[position] : nil
        default: return nil
        }
        return place
    }

    private static func step(_ token: Key, in container: Value) -> ValuePath.Step? {
        guard container.list != nil else { return .key(token) }
        return token.index.map { .position($0) }
    }

    private func value(at steps: [ValuePath.Step]) -> Value {
        steps.reduce(document) { $0.part($1) ?? Self.unknown }
    }

    private mutating func set(_ part: Value, at pointer: JSONPointer) -> Bool {
        guard let place = place(pointer), let last = pointer.tokens.last else {
            document = part
            return true
        }
        return change(place.container) { container in
            if let position = place.position {
                container.list { $0[position] = part }
            } else {
                container.map { $0[last] = part }
            }
        }
    }

    /// Changes a container in place; one that is unknown stays so.
    private mutating func change(_ steps: [ValuePath.Step], _ body: (inout Value) -> Void) -> Bool {
        document.change(steps[...], body)
        return true
    }
}

extension Value {
    fileprivate func part(_ step: ValuePath.Step) -> Value? {
        switch (step, self) {
        case (.key(let key), .map(let map)): map[key]
        case (.position(let position), .list(let items)) where items.indices.contains(position):
            items[position]
        default: nil
        }
    }

    fileprivate mutating func change(
        _ steps: ArraySlice<ValuePath.Step>,
        _ body: (inout Value) -> Void
    ) {
        guard let first = steps.first else { return body(&self) }
        switch first {
        case .key(let key):
            map { _ = $0.modify(key) { $0.change(steps.dropFirst(), body) } }
        case .position(let position):
            list { $0.modify(at: position) { $0.change(steps.dropFirst(), body) } }
        }
    }

    /// Lends the items, where this is a list.
    fileprivate mutating func list(_ body: (inout List) -> Void) {
        guard case .list(var items) = self else { return }
        self = .null
        body(&items)
        self = .list(items)
    }

    /// Lends the entries, where this is a map.
    fileprivate mutating func map(_ body: (inout Map) -> Void) {
        guard case .map(var map) = self else { return }
        self = .null
        body(&map)
        self = .map(map)
    }
}

/// Some pointers, found by what they begin with.
private struct PointerTree {
    private var isIn = false
    private var children: [Key: PointerTree] = [:]

    var isEmpty: Bool { !isIn && children.isEmpty }

    mutating func insert(_ tokens: ArraySlice<Key>) {
        if let first = tokens.first {
            children[first, default: PointerTree()].insert(tokens.dropFirst())
        } else {
            isIn = true
        }
    }

    /// Removes a pointer and all that lead on from it.
    mutating func remove(_ tokens: ArraySlice<Key>) {
        guard let first = tokens.first else { return self = PointerTree() }
        children[first]?.remove(tokens.dropFirst())
        if children[first]?.isEmpty == true { children[first] = nil }
    }
}
