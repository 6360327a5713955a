import GRDB
import GodwitTestKit
import Testing

@testable import GodwitStore

/// The migrations of an app's own tables.
struct MigrationTests {
    private let folder: TemporaryFolder
    private let create = Store.Migration.sql(
        "create note",
        "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('a')"
    )
    private let shout = Store.Migration.change("shout") {
        try $0.execute(sql: "UPDATE note SET text = text || '!'")
    }
    private let question = Store.Migration.sql("question", "UPDATE note SET text = text || '?'")

    init() throws { folder = try TemporaryFolder() }

    private func options(_ migrations: Store.Migration...) -> Store.Options {
        var options = Store.Options()
        options.migrations = migrations
        return options
    }

    private func open(_ path: String, _ migrations: Store.Migration...) throws {
        var options = Store.Options()
        options.migrations = migrations
        try Store(.file(path), options: options).close()
    }

    /// The app's notes, and then the names of the migrations that the file has had.
    private func found(in path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let sql = "SELECT text FROM note UNION ALL SELECT name FROM godwit_migration"
        return try queue.read { try String.fetchAll($0, sql: sql) }
    }

    @Test func `a store runs each migration once, in the order of the list`() throws {
        let path = folder.path("store.sqlite")
        try open(path, create)
        for _ in 0..<2 { try open(path, create, shout, question) }
        #expect(try found(in: path) == ["a!?", "create note", "question", "shout"])
    }

    @Test func `a migration that another branch has put in the middle is run, too`() throws {
        let path = folder.path("store.sqlite")
        try open(path, create, question)
        try open(path, create, shout, question)
        #expect(try found(in: path) == ["a?!", "create note", "question", "shout"])
    }

    @Test func `a migration that fails leaves the store as it was`() throws {
        let path = folder.path("store.sqlite")
        try open(path, create)
        let fails = Store.Migration.change("fails") { _ in throw CancellationError() }
        #expect(throws: CancellationError.self) { try open(path, create, shout, fails) }
        #expect(try found(in: path) == ["a", "create note"])
    }

    @Test func `a migration may make a table anew that others refer to`() throws {
        let path = folder.path("store.sqlite")
        let tables = Store.Migration.sql(
            "create",
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (parent INTEGER REFERENCES parent ON DELETE CASCADE);
            INSERT INTO parent VALUES (1);
            INSERT INTO child VALUES (1);
            """
        )
        let anew = Store.Migration.sql(
            "parent with a name",
            """
            CREATE TABLE parent2 (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO parent2 SELECT id, 'a' FROM parent;
            DROP TABLE parent;
            ALTER TABLE parent2 RENAME TO parent;
            """
        )
        try open(path, tables)
        try open(path, tables, anew)
        let orphan = Store.Migration.sql("orphan", "DELETE FROM parent")
        #expect(throws: DatabaseError.self) { try open(path, tables, anew, orphan) }
        let store = try Store(.file(path), options: options(tables, anew))
        let (isChecked, children) = try store.database.read { database in
            (
                try Bool.fetchOne(database, sql: "PRAGMA foreign_keys"),
                try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM child")
            )
        }
        #expect(isChecked == true && children == 1)
        try store.close()
    }

    @Test func `an older app is told which migrations it lacks, and changes nothing`() throws {
        let path = folder.path("store.sqlite")
        try open(path, create, shout)
        #expect(throws: StoreError.newerMigrations(["shout"])) { try open(path, create) }
        #expect(throws: StoreError.newerMigrations(["shout"])) { try open(path, create, question) }
        #expect(try found(in: path) == ["a!", "create note", "shout"])
        // A program without tables of its own, such as `godwit store ls`, reads the objects.
        try open(path)
    }

    @Test func `a reader of a store that lacks a migration is told so`() throws {
        let path = folder.path("store.sqlite")
        try open(path, create)
        var reading = options(create)
        reading.access = .readOnly
        try Store(.file(path), options: reading).close()
        reading.migrations = [create, shout]
        let reason = "it lacks the migration 'shout'; open it for writing once"
        #expect(throws: StoreError.unusable(reason: reason)) {
            try Store(.file(path), options: reading)
        }
    }
}
