extension Value {
    /// Edits the value in a draft, and returns the change.
    ///
    /// ```swift
    /// var item: Value = ["name": "Wine", "quantity": 1]
    /// let delta = try item.edit { $0.quantity.add(2) }  // {:quantity #d/inc 2}
    /// ```
    ///
    /// - Complexity: That of the edits; see ``Draft``.
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` for the first edit that did not fit the
    ///   value, ``TreeError/tooDeep(limit:)`` when the result would nest too deep, and whatever
    ///   `body` throws. The value is then as it was.
    @discardableResult
    public mutating func edit(_ body: (inout Draft) throws -> Void) throws -> Delta {
        var draft = Draft(self)
        let origin = draft.origin
        try body(&draft)
        draft = draft.from(origin)
        if let failure = draft.failure { throw failure }
        let delta = draft.delta
        guard delta.isNested(within: Value.depthMax) else {
            throw TreeError.tooDeep(limit: Value.depthMax)
        }
        assert((try? delta.applied(to: self)) == draft.value, "A draft's delta leads to its value")
        self = draft.value
        return delta
    }
}

// What is assigned to a place of a draft is written as the value itself.
extension Draft: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) { self = .new(.bool(value)) }
    public init(integerLiteral value: Int64) { self = .new(.int(value)) }
    public init(floatLiteral value: Double) { self = .new(.double(Finite(floatLiteral: value))) }
    public init(stringLiteral value: String) { self = .new(.string(Key(value))) }
    public init(arrayLiteral elements: Value...) { self = .new(.list(elements)) }
    public init(dictionaryLiteral elements: (Key, Value)...) {
        self = .new(.map(Value.Map(elements)))
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
