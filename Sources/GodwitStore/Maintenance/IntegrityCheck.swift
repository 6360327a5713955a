internal import GRDB
internal import GodwitTree

/// Reads everything that a store has, and compares it with what the store wrote down about it.
struct IntegrityCheck {
    let database: Database
    let context: StoreContext
    let progress: (Int) -> Void

    private static let problemMax = 100
    private static let progressStep = 1_000

    func run() throws -> IntegrityReport {
        var report = IntegrityReport()
        report.problems = try String.fetchAll(
            database,
            sql: "PRAGMA integrity_check(\(Self.problemMax))"
        ).filter { $0 != "ok" }
        do {
            _ = try Ledger.last(in: database)
            var collections = Set(try Ledger.collections(in: database))
            collections.formUnion(
                try String.fetchAll(
                    database,
                    sql: "SELECT DISTINCT collection FROM godwit_object"
                ).map { Key($0) }
            )
            for collection in collections.sorted() { try check(collection, &report) }
        } catch let error as StoreError {
            report.problems.append(error.description)
        } catch let error as DatabaseError {
            report.problems.append("SQLite: \(error.message ?? error.resultCode.description)")
        }
        return report
    }

    private func check(_ collection: Key, _ report: inout IntegrityReport) throws {
        var seen = Ledger.Total()
        let keys = try self.keys(of: collection)
        var counts: [Int64: Int] = [:]
        let entries = try context.indexes.catalogue(in: database).entries(of: collection)
        for key in keys {
            let place = ObjectKey(collection: collection, key: Key(key))
            do {
                guard let object = try ObjectTable.object(at: place, in: database) else {
                    throw StoreError.damagedObject(place)
                }
                _ = try object.value(at: place)
                _ = try object.metadataValue(at: place)
                seen.add(object)
                try check(entries, of: object, at: place, &counts, &report)
            } catch let error as StoreError {
                report.problems.append(error.description)
            }
            report.objectCount += 1
            if report.objectCount.isMultiple(of: Self.progressStep) { progress(report.objectCount) }
        }
        if try Ledger.total(of: collection, in: database) != seen {
            report.problems.append(StoreError.damagedCollection(collection).description)
        }
        for entry in entries {
            guard try entry.count(in: database) != counts[entry.number, default: 0] else {
                continue
            }
            let name = entry.index.name
            report.problems.append("the index \(name) of \(collection) has entries of no object")
        }
    }

    private func keys(of collection: Key) throws -> [String] {
        var keys: [String] = []
        try ObjectTable.forEachKey(of: collection, KeyWalk(), in: database) {
            keys.append($0)
            return true
        }
        return keys
    }

    private func check(
        _ entries: [IndexTable.Entry],
        of object: StoredObject,
        at place: ObjectKey,
        _ counts: inout [Int64: Int],
        _ report: inout IntegrityReport
    ) throws {
        let indexes = context.indexes
        for entry in entries {
            // Without the app's upgrades, the entries of older objects are only counted.
            let isThere =
                try !indexes.knowsFields(of: object, for: entry)
                || entry.contains(
                    indexes.values(of: object, at: place, for: entry),
                    place.key,
                    in: database
                )
            if isThere {
                counts[entry.number, default: 0] += 1
            } else {
                report.problems.append("the index \(entry.index.name) does not have \(place)")
            }
        }
    }
}
