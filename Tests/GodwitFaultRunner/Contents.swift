import GRDB
import GodwitStore
import GodwitTree

/// All objects of a store: those that are there, or those that should be.
struct Contents: Equatable, Sendable {
    /// The collections that scenarios write to, and where the marks of their transactions are.
    static let collections: [Key] = [marks, twins, "things", "others", "mirror"]
    static let marks: Key = "marks"
    static let twins: Key = "twins"

    /// A table of the app's own, beside the objects and in the same transactions.
    static let ownTable: Key = "own_table"

    private(set) var objects: [ObjectKey: Value] = [:]

    init() {}

    /// What a transaction sees.
    init(of transaction: borrowing ReadTransaction) throws {
        for name in Self.collections {
            for key in try transaction.keys(in: Store.Collection<Value>(name)) {
                let key = ObjectKey(collection: name, key: Key(key))
                objects[key] = try transaction.value(of: key)
            }
        }
        let database = transaction.database
        guard try database.tableExists(Self.ownTable.text) else { return }
        let rows = try Row.fetchAll(database, sql: "SELECT key, number FROM own_table")
        for row in rows { self[Self.ownTable, Key(row[0])] = .int(row[1]) }
    }

    subscript(collection: Key, key: Key) -> Value? {
        get { objects[ObjectKey(collection: collection, key: key)] }
        set { objects[ObjectKey(collection: collection, key: key)] = newValue }
    }

    func keys(in collection: Key) -> [Key] {
        objects.keys.filter { $0.collection == collection }.map(\.key).sorted()
    }

    mutating func removeAll(in collection: Key) {
        objects = objects.filter { $0.key.collection != collection }
    }

    /// The transactions that are there, by their marks.
    var marked: [String] { keys(in: Self.marks).map(\.text) }

    /// What is wrong in these contents, by comparison with those that should be.
    func difference(from expected: Contents) -> String? {
        let keys = Set(objects.keys).union(expected.objects.keys).sorted()
        let wrong = keys.filter { objects[$0] != expected.objects[$0] }
        guard !wrong.isEmpty else { return nil }
        let examples = wrong.prefix(3).map { key in
            let state = objects[key] == nil ? "is missing" : "is not as it should be"
            return expected.objects[key] == nil ? "\(key) should not be" : "\(key) \(state)"
        }
        return "\(wrong.count) of \(keys.count) objects: " + examples.joined(separator: ", ")
    }
}
