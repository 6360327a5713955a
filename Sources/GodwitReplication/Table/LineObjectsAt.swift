internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The objects of a line as they were in a state, for a comparison.
///
/// They are the head's objects, but for those that the line has changed since.
struct LineObjectsAt: ComparedObjects {
    private let line: LineNumber
    private let database: Database
    private let isRoot: Bool
    /// Objects that are other ones in the head.
    private let changed: SortedObjects
    private let changedKeys: Set<ObjectKey>

    /// - Precondition: The state is kept.
    init(_ state: LineState, of line: LineNumber, in database: Database) throws {
        self.line = line
        self.database = database
        isRoot = state == .root
        var objects: [ObjectKey: VersionedValue] = [:]
        var keys: Set<ObjectKey> = []
        if !isRoot {
            let changed = try LineObjectTable.changes(since: state.serial, of: line, in: database)
            for (key, object) in changed {
                keys.insert(key)
                objects[key] = try object.value(at: state.serial)
            }
        }
        changed = SortedObjects(objects)
        changedKeys = keys
    }

    func sum(of span: KeySpan) throws -> CollectionSum {
        var sum = changed.sum(of: span)
        try eachKept(in: span, "hash") { _, statement in
            sum.count += 1
            sum.sum += try statement.setHash(2)
        }
        return sum
    }

    func objects(in span: KeySpan, sizeMax: Int) throws -> [ObjectKey: VersionedValue]? {
        guard var objects = changed.objects(in: span, sizeMax: sizeMax) else { return nil }
        var size = objects.values.reduce(0) { $0 + $1.value.canonicalBytes.count }
        try eachKept(in: span, "version, value") { key, statement in
            size += statement.blob(3).count
            // The rest is only measured.
            if size <= sizeMax { objects[key] = try statement.object(version: 2, value: 3) }
        }
        return size <= sizeMax ? objects : nil
    }

    func cuts(of span: KeySpan, into count: Int) throws -> [ObjectKey] {
        var keys = Array((changed.objects(in: span, sizeMax: .max) ?? [:]).keys)
        try eachKept(in: span, "0") { key, _ in keys.append(key) }
        return keys.sorted { $0.precedes($1) }.cuts(into: count)
    }

    /// Walks through the head's objects that are the same in the state.
    private func eachKept(
        in span: KeySpan,
        _ columns: String,
        _ body: (ObjectKey, PreparedStatement) throws -> Void
    ) throws {
        guard !isRoot else { return }
        let upper = span.upper == nil ? "" : "AND (collection, key) < (?, ?)"
        let statement = try PreparedStatement(
            """
            SELECT collection, key, \(columns) FROM godwit_line_object
            WHERE line = ? AND (collection, key) >= (?, ?) \(upper)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(span.lower?.collection ?? "", at: 2)
        try statement.bind(span.lower?.key ?? "", at: 3)
        if let upper = span.upper {
            try statement.bind(upper.collection, at: 4)
            try statement.bind(upper.key, at: 5)
        }
        while try statement.step() {
            let key = statement.objectKey(0, 1)
            if !changedKeys.contains(key) { try body(key, statement) }
        }
    }
}
