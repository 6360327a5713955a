/// A document under a patch, and the small delta that each operation stands for.
struct PatchMachine {
    private(set) var document: Value
    private var index = 0
    private var scale = PatchScale()
    private var meter: ReadMeter

    init(document: Value, budget: ReadBudget) {
        self.document = document
        meter = ReadMeter(budget)
    }

    /// Performs the next operation, and returns what it has changed.
    mutating func perform(_ operation: JSONPatch.Operation) throws(TreeError) -> Delta {
        let delta: Delta
        switch operation {
        case .add(let pointer, let value): delta = try change(adding(value, at: pointer))
        case .remove(let pointer): delta = try change(removing(pointer))
        case .replace(let pointer, let value): delta = try change(replacing(pointer, by: value))
        case .move(let from, let to): delta = try move(from, to)
        case .copy(let from, let to):
            let value = try value(at: from)
            let size = try weigh(value, at: to)
            try meter.take(size, each: Self.copyCost)
            delta = try change(adding(value, at: to), depth: .known)
        case .test(let pointer, let value):
            guard try self.value(at: pointer).isSameJSON(as: value) else {
                throw fault("there is another value at \"\(pointer)\"")
            }
            delta = .keep
        }
        index += 1
        return delta
    }

    private mutating func change(
        _ delta: Delta,
        depth: ApplyDepth = .checked(0)
    ) throws(TreeError) -> Delta {
        document = try delta.applied(to: document, at: depth)
        return delta
    }

    private mutating func move(
        _ from: JSONPointer,
        _ to: JSONPointer
    ) throws(TreeError) -> Delta {
        let value = try value(at: from)
        guard from != to else { return .keep }
        guard !from.isAbove(to) else { throw fault("nothing moves into its own part") }
        if let delta = try moving(from, to) { return try change(delta) }
        // A part takes the place of the whole document: what it is taken from is gone too.
        guard !to.tokens.isEmpty else { return try change(.set(value), depth: .known) }
        _ = try weigh(value, at: to)
        let first = try change(removing(from))
        let second = try change(adding(value, at: to), depth: .known)
        return try first.composed(with: second)
    }

    /// The size of a part, which may stand at another place.
    private mutating func weigh(
        _ value: Value,
        at pointer: JSONPointer
    ) throws(TreeError) -> Int {
        let size = try scale.size(of: value, &meter)
        guard pointer.tokens.count + size.depth <= Value.depthMax else {
            throw .tooDeep(limit: Value.depthMax)
        }
        return size.sizeInBytes
    }

    /// The most memory that a byte of text takes as a value.
    private static let copyCost = 16
}

// MARK: - Changes of one place

extension PatchMachine {
    private func adding(_ value: Value, at pointer: JSONPointer) throws(TreeError) -> Delta {
        guard let target = try target(pointer) else { return .set(value) }
        switch target.container {
        case .map:
            return try target.changePart(.set(value))
        case .list(let items):
            let count = items.count
            let position = try target.position(of: target.last, max: count, end: count)
            return target.change(tail: position, .kept(0..<position), .new(value))
        default: throw target.nothing
        }
    }

    private func removing(_ pointer: JSONPointer) throws(TreeError) -> Delta {
        guard let target = try target(pointer) else {
            throw fault("a document cannot be removed as a whole")
        }
        _ = try target.value
        switch try target.step {
        case .key(let key): return target.change(.map([key: .remove]))
        case .position(let position):
            return target.change(tail: position + 1, .kept(0..<position))
        }
    }

    private func replacing(_ pointer: JSONPointer, by value: Value) throws(TreeError) -> Delta {
        guard let target = try target(pointer) else { return .set(value) }
        _ = try target.value
        return try target.changePart(.set(value))
    }

    /// A move within one list, of an item that is there; nil for any other.
    private func moving(_ from: JSONPointer, _ to: JSONPointer) throws(TreeError) -> Delta? {
        guard from.tokens.dropLast() == to.tokens.dropLast(), let target = try target(from),
            case .list(let items) = target.container, let last = to.tokens.last,
            case .position(let source) = try target.step
        else { return nil }
        let end = items.count - 1
        let place = try target.position(of: last, max: end, end: end)
        let item = ListRecipe.Run.kept(source..<(source + 1))
        return if source < place {
            target.change(
                tail: place + 1,
                .kept(0..<source),
                .kept((source + 1)..<(place + 1)),
                item
            )
        } else {
            target.change(tail: source + 1, .kept(0..<place), item, .kept(place..<source))
        }
    }

    private func target(_ pointer: JSONPointer) throws(TreeError) -> PatchTarget? {
        try PatchTarget(pointer, in: document, operation: index)
    }

    private func value(at pointer: JSONPointer) throws(TreeError) -> Value {
        try target(pointer)?.value ?? document
    }

    private func fault(_ reason: String) -> TreeError {
        .patchFailed(operation: index, reason: reason)
    }
}
