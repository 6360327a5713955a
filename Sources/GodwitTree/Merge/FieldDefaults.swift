/// The values that say nothing about a record, because an app puts them into each new one.
///
/// They are nothing, false, zero, empty, or what most of the records around have in that field.
struct FieldDefaults {
    private let records: [Value.Map]

    init(_ items: [Value]) { records = items.compactMap(\.map) }

    func contains(_ key: Key, _ value: Value) -> Bool {
        if value.isUnset { return true }
        let sharers = records.count { $0[key] == value }
        return sharers > 0 && 2 * sharers >= records.count
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
