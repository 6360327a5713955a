#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// The objects of a line as they were in a state, for a comparison.
///
/// They are the head's objects, but for those that the line has changed since.
struct LineObjectsAt: ComparedObjects {
    private let line: LineNumber
    private let session: PostgreSQLSession
    private let isRoot: Bool
    /// Objects that are other ones in the head.
    private let changed: SortedObjects
    private let changedKeys: Set<ObjectKey>

    /// - Precondition: The state is kept.
    init(_ state: LineState, of line: LineNumber, on session: PostgreSQLSession) throws {
        (self.line, self.session) = (line, session)
        isRoot = state == .root
        var objects: [ObjectKey: VersionedValue] = [:]
        var keys: Set<ObjectKey> = []
        if !isRoot {
            let changed = try LineObjectRow.changes(since: state.serial, of: line, on: session)
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
        try eachKept(in: span) { _, rows, row in
            sum.count += 1
            sum.sum += try rows.setHash(row, 2)
        }
        return sum
    }

    func objects(in span: KeySpan, sizeMax: Int) throws -> [ObjectKey: VersionedValue]? {
        guard var objects = changed.objects(in: span, sizeMax: sizeMax) else { return nil }
        guard !isRoot else { return objects }
        var size = objects.values.reduce(0) { $0 + $1.value.canonicalBytes.count }
        let isWhole = try LineObjectRow.eachPage(of: line, in: span, on: session) { rows in
            for row in 0..<rows.count {
                let key = rows.objectKey(row)
                guard !changedKeys.contains(key) else { continue }
                size += rows.sizeInBytes(row, 3)
                guard size <= sizeMax else { return false }
                objects[key] = try rows.object(row, 2)
            }
            return true
        }
        return isWhole ? objects : nil
    }

    func cuts(of span: KeySpan, into count: Int) throws -> [ObjectKey] {
        var keys = Array((changed.objects(in: span, sizeMax: .max) ?? [:]).keys)
        try eachKept(in: span) { key, _, _ in keys.append(key) }
        return keys.sorted { $0.precedes($1) }.cuts(into: count)
    }

    /// Walks through the hashes of the head's objects that are the same in the state.
    private func eachKept(
        in span: KeySpan,
        _ body: (ObjectKey, PostgreSQLRows, Int) throws -> Void
    ) throws {
        guard !isRoot else { return }
        try LineObjectRow.eachPageOfHashes(of: line, in: span, on: session) { rows in
            for row in 0..<rows.count {
                let key = rows.objectKey(row)
                if !changedKeys.contains(key) { try body(key, rows, row) }
            }
        }
    }
}
#endif
