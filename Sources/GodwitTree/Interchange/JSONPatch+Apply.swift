// A patch is applied as the small deltas that its operations stand for. Each is made for the
// document as it is then, so that every operation means what RFC 6902 says, and the document is a
// persistent value, so that each costs O(log n).
//
// A few operations can copy a document into itself until it is larger than any memory, though they
// share all of it. So copies are weighed before they are made, as what they take when the document
// is written out.

extension JSONPatch {
    /// The document after all operations.
    ///
    /// - Parameters:
    ///   - base: The document before.
    ///   - budget: What all copies of the patch may take, written out.
    /// - Complexity: O(*k* log *n*) for *k* operations, and the size of what they test, copy and
    ///   put in.
    /// - Throws: ``TreeError/patchFailed(operation:reason:)`` with the first operation that fails;
    ///   ``TreeError/tooDeep(limit:)`` when the result would nest too deep;
    ///   ``TreeError/overBudget(_:limit:)``.
    public func applied(
        to base: Value,
        budget: ReadBudget = .standard
    ) throws(TreeError) -> Value {
        var machine = PatchMachine(document: base, budget: budget)
        for operation in operations { _ = try machine.perform(operation) }
        return machine.document
    }
}

extension Value {
    /// Equality as RFC 6902 has it: the same number is equal as an int and as a double.
    func isSameJSON(as other: Value) -> Bool {
        switch (self, other) {
        case (.int(let int), .double(let double)), (.double(let double), .int(let int)):
            Int64(exactly: double.double) == int
        case (.list(let items), .list(let others)):
            items.count == others.count && zip(items, others).allSatisfy { $0.isSameJSON(as: $1) }
        case (.map(let map), .map(let other)):
            map.count == other.count
                && zip(map, other).allSatisfy {
                    $0.key == $1.key && $0.value.isSameJSON(as: $1.value)
                }
        default:
            self == other
        }
    }
}
