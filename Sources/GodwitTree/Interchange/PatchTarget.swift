/// Where a pointer of a patch leads: to a part of a container, which may be there or not.
struct PatchTarget {
    private let pointer: JSONPointer
    /// The number of the operation, for errors.
    private let operation: Int
    /// The way to the container.
    private var steps: [ValuePath.Step] = []
    private(set) var container: Value
    let last: Key

    /// Follows a pointer through a document; nil for the root, which is no part of anything.
    ///
    /// - Complexity: O(log *n*) for each step.
    init?(_ pointer: JSONPointer, in document: Value, operation: Int) throws(TreeError) {
        guard let last = pointer.tokens.last else { return nil }
        self.pointer = pointer
        self.operation = operation
        self.last = last
        container = document
        for token in pointer.tokens.dropLast() {
            let step = try step(token)
            guard let part = part(step) else { throw nothing }
            steps.append(step)
            container = part
        }
    }
}

extension PatchTarget {
    /// The value that is there.
    var value: Value {
        get throws(TreeError) {
            guard let value = part(try step) else { throw nothing }
            return value
        }
    }

    /// The step from the container to the part.
    var step: ValuePath.Step {
        get throws(TreeError) { try step(last) }
    }

    /// A position in a list, from 0 to `max`, or what `-` stands for.
    func position(of key: Key, max: Int, end: Int) throws(TreeError) -> Int {
        if key == "-" { return end }
        guard let index = key.index else { throw fault("\"\(key)\" is not the index of an item") }
        guard index <= max else { throw fault("there is no place \(index) in the list") }
        return index
    }

    private func step(_ token: Key) throws(TreeError) -> ValuePath.Step {
        guard case .list(let items) = container else { return .key(token) }
        return .position(try position(of: token, max: items.count - 1, end: items.count))
    }

    private func part(_ step: ValuePath.Step) -> Value? {
        switch (step, container) {
        case (.key(let key), .map(let map)): map[key]
        case (.position(let position), .list(let items)) where position < items.count:
            items[position]
        default: nil
        }
    }

    var nothing: TreeError { fault("there is nothing at \"\(pointer)\"") }

    private func fault(_ reason: String) -> TreeError {
        .patchFailed(operation: operation, reason: reason)
    }
}

// MARK: - Changes

extension PatchTarget {
    /// A change of the container, as one of the document.
    func change(_ delta: Delta) -> Delta { steps.reversed().reduce(delta) { Delta($0, at: $1) } }

    /// A change of some items of the container.
    func change(tail: Int, _ runs: ListRecipe.Run...) -> Delta {
        var recipe = ListRecipe()
        for run in runs { recipe.append(run) }
        recipe.finish(tail: tail)
        return change(.list(recipe))
    }

    /// A change of the part itself.
    func changePart(_ delta: Delta) throws(TreeError) -> Delta {
        change(Delta(delta, at: try step))
    }
}

extension Delta {
    /// A change of one part, as one of what it is a part of.
    fileprivate init(_ delta: Delta, at step: ValuePath.Step) {
        switch step {
        case .key(let key): self = .map([MapDelta.Entry(key: key, change: .apply(delta))])
        case .position(let position):
            self = .list(ListRecipe(editing: position, delta))
        }
    }
}
