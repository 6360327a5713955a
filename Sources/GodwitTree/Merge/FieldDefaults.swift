/// The values that say nothing about a record, because an app puts them into each new one.
///
/// They are nothing, false, zero, empty, or what most of the records around have in that field.
struct FieldDefaults {
    private var sharers: [Key: [ItemContent: Int]] = [:]
    private var recordCount = 0

    /// - Complexity: O(*n*) in the number of all fields.
    init(_ items: [Value]) {
        for case .map(let record) in items {
            recordCount += 1
            for entry in record {
                sharers[entry.key, default: [:]][ItemContent(entry.value), default: 0] += 1
            }
        }
    }

    /// - Complexity: O(1), besides a hash of the value.
    func contains(_ key: Key, _ value: Value) -> Bool {
        if value.isUnset { return true }
        guard let count = sharers[key]?[ItemContent(value)] else { return false }
        return 2 * count >= recordCount
    }
}

extension Value {
    /// Whether it is nothing, false, zero or empty.
    var isUnset: Bool {
        switch self {
        case .null, .bool(false), .int(0): true
        case .string(let text): text.sizeInBytes == 0
        case .list(let list): list.isEmpty
        case .map(let map): map.isEmpty
        case .bool, .int, .double, .bytes: false
        }
    }
}
