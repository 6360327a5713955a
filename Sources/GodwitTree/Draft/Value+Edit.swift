extension Value {
    /// Edits the value in a draft, and returns the change.
    ///
    /// ```swift
    /// var item: Value = ["name": "Wine", "quantity": 1]
    /// let delta = try item.edit { $0.quantity += 2 }  // {:quantity #d/inc 2}
    /// ```
    ///
    /// - Complexity: That of the edits; see ``Draft``.
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` for the first edit that did not fit the
    ///   value, ``TreeError/inexpressible(path:reason:)`` for the first that assigned what is no
    ///   value, such as NaN, ``TreeError/tooDeep(limit:)`` when the result would nest too deep, and
    ///   what `body` throws. The value is then as it was.
    @discardableResult
    public mutating func edit(_ body: (inout Draft) throws -> Void) throws -> Delta {
        var draft = Draft(DraftPlace(self))
        let origin = draft.place.origin
        try body(&draft)
        draft.place.settle(lent: origin)
        let delta = try draft.place.delta(from: self)
        assert((try? delta.applied(to: self)) == Value(draft), "A draft's delta leads to its value")
        self = draft.place.value ?? .null
        return delta
    }
}
