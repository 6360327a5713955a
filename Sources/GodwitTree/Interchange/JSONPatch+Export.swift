// From a delta to a patch. The parts of a list's delta count in two lists, base and result; the
// operations of a patch count in the list as those before have left it. They come in an order in
// which that is easy to say:
//
//   (1) edits, at their positions in the base;
//   (2) removes, the last first, at their positions in the base too;
//   (3) what is inserted or moves, by its position in the result: see `ListRooms`.

extension JSONPatch {
    /// The patch that does to `base` what a delta does.
    ///
    /// ```swift
    /// let delta = Delta.diff(["a": [1, 2, 3]], ["a": [3, 1, 2]])
    /// try JSONPatch(delta, on: ["a": [1, 2, 3]]).encoded
    ///     // [{:from "/a/2" :op "move" :path "/a/0"}]
    /// ```
    ///
    /// Within lists, moves are moves. Changes within a text, and what is added to an int, are
    /// written as `replace` of the whole. Bytes stay bytes: only as JSON text are they hexadecimal.
    ///
    /// - Complexity: O(*k* log *k*) for *k* operations, and O(*k* log *n*) for looking at the base.
    /// - Throws: What ``Delta/applied(to:)`` throws for this base.
    public init(_ delta: Delta, on base: Value) throws(TreeError) {
        _ = try delta.applied(to: base)
        var writer = PatchWriter()
        try writer.write(delta, on: base, at: JSONPointer())
        operations = writer.operations
    }
}

private struct PatchWriter {
    private(set) var operations: [JSONPatch.Operation] = []

    /// Writes a change of what stands at a pointer; it is known to fit.
    mutating func write(
        _ delta: Delta,
        on base: Value,
        at pointer: JSONPointer
    ) throws(TreeError) {
        switch (delta, base) {
        case (.map(let delta), .map(let map)): try write(delta, on: map, at: pointer)
        case (.list(let delta), .list(let items)): try write(delta.parts, on: items, at: pointer)
        default:
            let value = try delta.applied(to: base)
            if value != base { operations.append(.replace(pointer, value)) }
        }
    }

    private mutating func write(
        _ delta: MapDelta,
        on base: Value.Map,
        at pointer: JSONPointer
    ) throws(TreeError) {
        for entry in delta.entries {
            let pointer = pointer.appending(entry.key)
            switch (base[entry.key], entry.change) {
            case (_?, .remove): operations.append(.remove(pointer))
            case (let old?, .apply(let delta)): try write(delta, on: old, at: pointer)
            case (nil, .apply(.set(let value))): operations.append(.add(pointer, value))
            case (nil, _): break
            }
        }
    }

    private mutating func write(
        _ parts: ListDelta.Parts,
        on base: Value.List,
        at pointer: JSONPointer
    ) throws(TreeError) {
        for edit in parts.edits {
            let item = pointer.appending(edit.position)
            try write(edit.delta, on: base[edit.position], at: item)
        }
        for position in parts.removes.reversed().flatMap({ $0.reversed() }) {
            operations.append(.remove(pointer.appending(position)))
        }
        for step in ListRooms(parts).steps() {
            switch step {
            case .insert(let value, let index):
                operations.append(.add(pointer.appending(index), value))
            case .move(let from, let to):
                let (from, to) = (pointer.appending(from), pointer.appending(to))
                operations.append(.move(from: from, to: to))
            }
        }
    }
}
