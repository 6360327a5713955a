// Whether a document has a patch already.
//
// A patch names no base, so its traces have to tell. The machine undoes the operations from the
// last to the first: what an operation has left must be there. The document before it is then
// known, but for what the operation has overwritten or removed; such a part is marked unknown, and
// matches anything.
//
//   (1) A patch is recognised when all operations can be undone, and at least one has left a trace
//       that only this value at this place, or no value under this key, can be. A key that the patch
//       itself has put in, before or after it took it away, is no trace.
//   (2) These operations leave no trace: a scalar, an empty list or an empty record is put into a list,
//       because lists hold equal ones; an item is removed from a list, or moved out of it. A patch with
//       such an operation is not recognised, whatever else it does: to apply it twice loses nothing, to
//       leave it out does.

extension JSONPatch {
    /// Whether all that the patch does is there already, so that it must not be applied again.
    ///
    /// ```swift
    /// let patch = try JSONPatch([["op": "add", "path": "/wine", "value": 2]])
    /// patch.isApplied(to: ["bread": 1, "wine": 2])  // true
    /// patch.isApplied(to: ["bread": 1])             // false
    /// ```
    ///
    /// A record that was there before the patch looks like one that the patch has put in. A patch that
    /// puts a scalar into a list is never recognised. Where the base is at hand, a
    /// ``SealedDelta`` knows better.
    ///
    /// - Complexity: O(*k* log *n*) for *k* operations, and the size of what they put in.
    public func isApplied(to document: Value) -> Bool {
        var machine = UndoMachine(document: document)
        for operation in operations.reversed() {
            guard machine.undo(operation) else { return false }
        }
        return machine.hasTrace && !machine.isUnsure || operations.isEmpty
    }
}
