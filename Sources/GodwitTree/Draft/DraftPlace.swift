internal import Synchronization

/// A place of a value that is being edited: what is there, and what happened to it.
struct DraftPlace {
    /// The value as it is now; nil where there is none.
    var value: Value?
    var story: Recording
    /// The value when the draft began; known of whole drafts, not of parts that are lent.
    let base: Value?
    /// The draft's identity: an assignment from another draft discards its history.
    let origin: UInt64
    private var firstFailure: Failure?

    /// A failure is rare, and too large to be moved about with each draft.
    private final class Failure: Sendable {
        let error: TreeError

        init(_ error: TreeError) { self.error = error }
    }

    /// Tells the drafts of one process apart; no origin is ever stored or sent.
    private static let lastOrigin = Atomic<UInt64>(0)

    /// A place whose value, if it has one, was there from the beginning.
    init(_ value: Value?, base: Value? = nil, _ story: Recording = .none) {
        (self.value, self.story, self.base) = (value, story, base)
        origin = Self.lastOrigin.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// A place that takes over what another one lends as a whole.
    init(lent origin: UInt64) {
        (value, story, base, self.origin) = (nil, .none, nil, origin)
    }

    /// A value that comes from elsewhere.
    init(new value: Value?) {
        (self.value, story, base, origin) = (value, .set, nil, 0)
    }
}

// MARK: - Failures

extension DraftPlace {
    /// The first failure; later ones are ignored.
    var failure: TreeError? { firstFailure?.error }

    mutating func fail(_ error: TreeError) {
        firstFailure = firstFailure ?? Failure(error)
    }

    /// Remembers that this is not what was expected.
    mutating func fail(_ expected: String) {
        let reason = value.map { "there is a \($0.kind) in the place of \(expected)" }
        fail(reason: reason ?? "there is nothing in the place of \(expected)")
    }

    mutating func fail(reason: String) { fail(.wrongBase(path: ValuePath(), reason: reason)) }

    mutating func failBeyond(_ number: some BinaryInteger) {
        fail(.inexpressible(path: ValuePath(), reason: "\(number) is no integer of 64 bits"))
    }
}

// MARK: - The place as a whole

extension DraftPlace {
    mutating func add(_ number: Int64) {
        guard case .int(let int)? = value else { return fail("an int") }
        value = .int(int &+ number)
        switch story {
        case .none: story = .increment(number)
        case .increment(let before): story = .increment(before &+ number)
        default: break
        }
    }

    /// Forgets what happened when this is not the draft that was lent.
    mutating func settle(lent origin: UInt64) {
        if self.origin != origin { story = .set }
    }

    /// The change from `base`.
    func delta(from base: Value?) throws(TreeError) -> Delta {
        if let failure { throw failure }
        guard let value else {
            throw .wrongBase(path: ValuePath(), reason: "a whole value cannot be removed")
        }
        let delta = base.map { story.delta(from: $0) { value } } ?? .set(value)
        guard delta.isNested(within: Value.depthMax) else {
            throw .tooDeep(limit: Value.depthMax)
        }
        return delta
    }
}

extension Delta {
    /// Whether nothing that it sets nests deeper than `limit` containers.
    fileprivate func isNested(within limit: Int) -> Bool {
        switch self {
        case .keep, .text, .increment: true
        case .set(let value): value.isNested(within: limit)
        case .map(let delta):
            delta.entries.allSatisfy { entry in
                guard case .apply(let change) = entry.change else { return true }
                return change.isNested(within: limit - 1)
            }
        case .list(let delta):
            delta.recipe.runs.allSatisfy { run in
                switch run {
                case .kept: true
                case .edited(_, let change): change.isNested(within: limit - 1)
                case .new(let value): value.isNested(within: limit - 1)
                }
            }
        }
    }
}
