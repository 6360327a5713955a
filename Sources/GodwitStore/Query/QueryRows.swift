/// The objects that a query has found, in its order, each with its key.
///
/// ```swift
/// let rows = try await store.read { try $0.objects(online) }
/// for row in rows { show(row.key, row.object) }
/// for (key, error) in rows.unreadable { report(key, error) }
/// ```
public struct QueryRows<Object: Sendable>: Sendable {
    private var rows: [QueryRow<Object>] = []

    /// The objects that are left out because they cannot be read, and why, by key.
    public private(set) var unreadable: [String: StoreError] = [:]

    init() {}
}

/// A row of a query's result.
public struct QueryRow<Object: Sendable>: Sendable {
    public let key: String
    public let object: Object
}

extension QueryRows {
    mutating func append(_ key: String, _ object: Object) {
        rows.append(QueryRow(key: key, object: object))
    }

    mutating func leaveOut(_ key: String, because error: StoreError) { unreadable[key] = error }
}

extension QueryRows: RandomAccessCollection {
    public var startIndex: Int { rows.startIndex }
    public var endIndex: Int { rows.endIndex }
    public subscript(position: Int) -> QueryRow<Object> { rows[position] }
}

extension QueryRow: Equatable where Object: Equatable {}
extension QueryRows: Equatable where Object: Equatable {}

extension QueryRow: Identifiable {
    public var id: String { key }
}
