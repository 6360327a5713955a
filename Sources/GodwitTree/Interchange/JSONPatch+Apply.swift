// A patch is applied as the small deltas that its operations stand for. Each is made for the
// document as it is then, so that every operation means what RFC 6902 says, and the document is a
// persistent value, so that each costs O(log n).
//
// A few operations can copy a document into itself until it is larger than any memory, though they
// share all of it. So copies are weighed before they are made, and their sum has a limit.

extension JSONPatch {
    /// What all copies of one patch may take, as text of about this size.
    public static let copiedMaxInBytes = 1 << 26

    /// The document after all operations.
    ///
    /// - Complexity: O(*k* log *n*) for *k* operations, and the size of what they test and put in.
    /// - Throws: ``TreeError/patchFailed(operation:reason:)`` with the first operation that fails;
    ///   ``TreeError/tooDeep(limit:)`` when the result would nest too deep.
    public func applied(to base: Value) throws(TreeError) -> Value {
        var machine = PatchMachine(document: base)
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

    /// `start`, and about the size of this value as text; no more is looked at than the limit says.
    func weight(from start: Int, limit: Int) -> Int {
        var weight = start + 4
        switch self {
        case .string(let key): weight += key.sizeInBytes
        case .bytes(let bytes): weight += bytes.count
        case .list(let items):
            for item in items {
                guard weight <= limit else { break }
                weight = item.weight(from: weight, limit: limit)
            }
        case .map(let map):
            for entry in map {
                guard weight <= limit else { break }
                weight = entry.value.weight(from: weight + entry.key.sizeInBytes, limit: limit)
            }
        default: break
        }
        return weight
    }
}
