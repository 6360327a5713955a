internal import GodwitTree

extension PropertyList {
    /// A plain property list as a value.
    ///
    /// A date is the seconds since 2001, as the store's coder writes it.
    ///
    /// - Throws: ``YapDatabaseError/unreadableData(reason:)``.
    func value(depth: Int = 0) throws(YapDatabaseError) -> Value {
        guard depth <= Value.depthMax else { throw .tooDeep }
        switch self {
        case .list(let items):
            var values: [Value] = []
            for item in items { values.append(try item.value(depth: depth + 1)) }
            return .list(values)
        case .map(let map):
            var values: [(Key, Value)] = []
            for (key, item) in map { values.append((key, try item.value(depth: depth + 1))) }
            return .map(Value.Map(values))
        case .uid: throw .unreadableData(reason: "this is a keyed archive, or a part of one")
        default: return try scalar()
        }
    }

    /// - Throws: ``YapDatabaseError/unreadableData(reason:)`` for a number that is none.
    func scalar() throws(YapDatabaseError) -> Value {
        switch self {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .int(let int): return .int(int)
        case .text(let text): return .string(Key(text))
        case .data(let bytes): return .bytes(bytes)
        case .double(let double), .date(let double):
            guard let finite = Finite(double) else {
                throw .unreadableData(reason: "a number is not finite")
            }
            return .double(finite)
        case .uid, .list, .map: throw .unreadableData(reason: "this is no single value")
        }
    }
}
