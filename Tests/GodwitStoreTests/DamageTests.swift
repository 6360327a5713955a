import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Files that are not what they were.
@Suite struct DamageTests {
    let folder: TemporaryFolder
    let texts = Store.Collection<String>("texts")

    init() throws { folder = try TemporaryFolder() }

    private static let objectCount = 150

    private func text(_ number: Int) -> String {
        "object \(number) " + String(repeating: "\(number)", count: 5 + number % 40)
    }

    /// A store of some hundred kilobytes, closed; its bytes.
    private func sound() async throws -> Data {
        let path = folder.path("sound.sqlite")
        let store = try Store(.file(path))
        let (texts, count) = (texts, Self.objectCount)
        try await store.write { [self] transaction in
            for number in 0..<count {
                try transaction.set(text(number), for: "\(number)", in: texts)
            }
        }
        try store.close()
        return try Data(contentsOf: URL(filePath: path))
    }

    private enum Finding {
        /// All that was written is there.
        case whole
        case error
        /// Something else than what was written was shown, and no error.
        case wrong(String)
    }

    /// Opens a file that may be damaged, and looks at all of it in all ways.
    private func look(at bytes: Data, name: String) async throws -> Finding {
        let path = folder.path(name)
        for suffix in ["-wal", "-shm", "-lock"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        try bytes.write(to: URL(filePath: path))
        guard let store = try? Store(.file(path)) else { return .error }
        defer { try? store.close() }
        let (texts, count) = (texts, Self.objectCount)
        do {
            let found = try await store.read { transaction in
                var walked: [String: String] = [:]
                try transaction.enumerate(texts) { key, text, _ in walked[key] = text }
                let single = try transaction.get(walked.keys, in: texts)
                return (walked, single, try transaction.count(in: texts))
            }
            guard found.0 == found.1, found.0.count == count, found.2 == count else {
                return .wrong("\(found.0.count), \(found.1.count) and \(found.2) objects")
            }
            for (key, text) in found.0 where text != self.text(Int(key) ?? -1) {
                return .wrong("\(key) is \(text)")
            }
            return .whole
        } catch {
            return .error
        }
    }

    @Test func `no flipped bit is ever read as good data`() async throws {
        let sound = try await sound()
        var random = Seeded(seed: 3)
        var (errors, wrong) = (0, [String]())
        for number in 0..<1_000 * Soak.factor {
            var bytes = sound
            let (place, bit) = (
                Int.random(in: 0..<bytes.count, using: &random),
                UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            )
            bytes[place] ^= bit
            switch try await look(at: bytes, name: "flipped-\(number % 8).sqlite") {
            case .whole: break
            case .error: errors += 1
            case .wrong(let what): wrong.append("bit \(bit) of byte \(place): \(what)")
            }
        }
        #expect(wrong.count == 0, "\(wrong.prefix(5))")
        #expect(errors > 100, "damage is there to be seen")
    }

    @Test func `a mutilated file is an error, never a crash and never empty`() async throws {
        let sound = try await sound()
        var random = Seeded(seed: 4)
        var wrong: [String] = []
        for number in 0..<500 * Soak.factor {
            let bytes = mutilated(sound, &random)
            let finding = try await look(at: bytes, name: "mutilated-\(number % 8).sqlite")
            if case .wrong(let what) = finding { wrong.append("\(number): \(what)") }
        }
        #expect(wrong.count == 0, "\(wrong.prefix(5))")
    }

    /// A table whose root is another table's has columns of other types than anyone expects.
    @Test func `every page in the place of every other is an error, never a crash`() async throws {
        let sound = try await sound()
        let pages = stride(from: 0, to: sound.count, by: 4_096)
        for page in pages {
            for other in pages where other != page {
                var bytes = sound
                bytes.replaceSubrange(page..<page + 4_096, with: sound[other..<other + 4_096])
                let finding = try await look(at: bytes, name: "page-\(page)-\(other).sqlite")
                if case .wrong(let what) = finding {
                    Issue.record("page \(other / 4_096) for \(page / 4_096): \(what)")
                }
            }
        }
    }

    private func mutilated(_ sound: Data, _ random: inout Seeded) -> Data {
        var bytes = sound
        let pages = bytes.count / 4_096
        let page = Int.random(in: 0..<pages, using: &random) * 4_096
        let other = Int.random(in: 0..<pages, using: &random) * 4_096
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes = bytes.prefix(Int.random(in: 1..<bytes.count, using: &random))
        case 1: bytes.replaceSubrange(page..<page + 4_096, with: Data(count: 4_096))
        case 2: bytes.replaceSubrange(page..<page + 4_096, with: sound[other..<other + 4_096])
        case 3: bytes.replaceSubrange(page..<page + 512, with: Data(repeating: 0xff, count: 512))
        default:
            for _ in 0..<20 {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
        }
        return bytes
    }

    @Test func `a store whose file became empty is refused, not begun anew`() async throws {
        let path = folder.path("store.sqlite")
        try Store(.file(path)).close()
        try Data().write(to: URL(filePath: path))
        #expect(throws: StoreError.self) { try Store(.file(path)) }
    }
}

// MARK: - Recovery

extension DamageTests {
    private func options(_ recovery: Store.Options.Recovery) -> Store.Options {
        var options = Store.Options()
        options.recovery = recovery
        return options
    }

    @Test func `a quarantined file is renamed, and the store begins empty`() async throws {
        let path = folder.path("store.sqlite")
        let text = Data(String(repeating: "no database ", count: 100).utf8)
        try text.write(to: URL(filePath: path))
        let store = try Store(.file(path), options: options(.quarantine))
        #expect(store.recovery?.reason == .notADatabase(path: path))
        let quarantine = try #require(store.recovery?.quarantine)
        #expect(try Data(contentsOf: URL(filePath: quarantine)) == text, "nothing is deleted")
        let texts = texts
        try await store.write { try $0.set("x", for: "x", in: texts) }
        try store.close()
        let again = try Store(.file(path), options: options(.quarantine))
        #expect(again.recovery == nil)
        try again.close()
    }

    @Test func `salvage saves what is readable, the app's rows and waiting work included`()
        async throws
    {
        let path = folder.path("store.sqlite")
        let texts = texts
        var opening = Store.Options()
        opening.migrations = [.sql("create note", "CREATE TABLE note (text TEXT)")]
        let store = try Store(.file(path), options: opening)
        try await store.write { [self] transaction in
            for number in 0..<300 {
                try transaction.set(text(number), for: "\(number)", in: texts)
            }
            for number in 0..<20 {
                try transaction.database.execute(
                    sql: "INSERT INTO note VALUES (?)",
                    arguments: ["note \(number)"]
                )
            }
        }
        try store.close()
        try await damageLedger(path)

        opening.recovery = .salvage
        let saved = try Store(.file(path), options: opening)
        let report = try #require(saved.recovery)
        #expect(report.objectCount == 299, "all but the damaged one")
        let (keys, notes) = try await saved.read { transaction in
            (
                try transaction.keys(in: texts),
                try Int.fetchOne(transaction.database, sql: "SELECT COUNT(*) FROM note")
            )
        }
        #expect(keys.count == 299 && !keys.contains("7"))
        #expect(notes == 20)
        let integrity = try await saved.integrityCheck()
        #expect(integrity.isSound, "\(integrity.problems)")
        let commit = try await saved.write { transaction in
            try transaction.set("new", for: "new", in: texts)
            return transaction.commit
        }
        #expect(commit > CommitNumber(rawValue: 1), "numbers go on")
        try saved.close()
    }

    @Test func `salvage saves rows whose parents are lost, and computes columns anew`() async throws
    {
        let path = folder.path("store.sqlite")
        let tables = """
            CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent);
            CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT, long AS (name || '!') STORED);
            """
        var opening = Store.Options()
        opening.migrations = [.sql("create tables", tables)]
        let store = try Store(.file(path), options: opening)
        let texts = texts
        try await store.write { [self] transaction in
            for number in 0..<300 {
                try transaction.set(text(number), for: "\(number)", in: texts)
            }
            try transaction.database.execute(
                sql: """
                    INSERT INTO parent (id, name) VALUES (1, 'Ann'), (2, 'Bob');
                    INSERT INTO child VALUES (1, 1), (2, 2);
                    """
            )
        }
        try store.close()
        let file = try DatabaseQueue(path: path)
        try await file.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA foreign_keys = 0; DELETE FROM parent WHERE id = 1")
        }
        try file.close()
        try await damageLedger(path)
        opening.recovery = .salvage
        let saved = try Store(.file(path), options: opening)
        let (children, names) = try await saved.read { transaction in
            (
                try Int.fetchAll(transaction.database, sql: "SELECT parent FROM child ORDER BY id"),
                try String.fetchAll(transaction.database, sql: "SELECT long FROM parent")
            )
        }
        #expect(children == [1, 2] && names == ["Bob!"])
        try saved.close()
    }

    @Test(arguments: [Store.Options.Recovery.salvage, .quarantine])
    func `a file that another process has open is not set aside`(
        recovery: Store.Options.Recovery
    ) async throws {
        let path = folder.path("store.sqlite")
        let texts = texts
        var options = Store.Options()
        options.processes = .several
        let app = try Store(.file(path), options: options)
        try await app.write { [self] transaction in
            for number in 0..<300 {
                try transaction.set(text(number), for: "\(number)", in: texts)
            }
        }
        try await damageLedger(path)
        options.recovery = recovery
        #expect(throws: StoreError.alreadyOpen(path: path)) {
            try Store(.file(path), options: options)
        }
        try app.close()
        let alone = try Store(.file(path), options: options)
        #expect(alone.recovery != nil)
        try alone.close()
    }

    @Test(arguments: [false, true])
    func `a salvage whose process ends is ended by the next opening`(isHalf: Bool) async throws {
        let path = folder.path("store.sqlite")
        let texts = texts
        let store = try Store(.file(path))
        try await store.write { [self] transaction in
            for number in 0..<30 { try transaction.set(text(number), for: "\(number)", in: texts) }
        }
        try store.close()
        try await damageLedger(path)
        var options = Store.Options()
        options.recovery = .salvage
        let files = FileManager.default
        try Store(.file(path), options: options).close()
        // The process ends before the last renaming, or before the one before it.
        try files.moveItem(atPath: path, toPath: path + "-salvaged")
        if isHalf { try Data("another file's log".utf8).write(to: URL(filePath: path + "-wal")) }
        let saved = try Store(.file(path), options: options)
        let keys = try await saved.read { try $0.keys(in: texts) }
        #expect(keys.count == 29)
        #expect(try await saved.integrityCheck().isSound)
        try saved.close()
    }

    /// Damages one object, and the ledger, without which no store opens.
    private func damageLedger(_ path: String) async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    UPDATE godwit_object SET value = x'00' WHERE key = '7';
                    UPDATE godwit_ledger SET commit_number = 77 WHERE slot = 0;
                    """
            )
        }
        try queue.close()
    }

    @Test func `the integrity check names what is damaged`() async throws {
        let path = folder.path("store.sqlite")
        let texts = texts
        var store = try Store(.file(path))
        try await store.write { transaction in
            for key in ["a", "b", "c"] { try transaction.set(key, for: key, in: texts) }
        }
        let sound = try await store.integrityCheck()
        #expect(sound.isSound && sound.objectCount == 3)
        try store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    UPDATE godwit_object SET value = x'6178' WHERE key = 'a';
                    DELETE FROM godwit_object WHERE key = 'b';
                    """
            )
        }
        try queue.close()
        store = try Store(.file(path))
        let report = try await store.integrityCheck()
        #expect(report.problems.contains("the stored object texts/a is damaged"))
        #expect(report.problems.contains { $0.hasPrefix("the collection texts has lost objects") })
        try store.close()
    }

    @Test func `the books of one collection are not taken for another's`() async throws {
        let path = folder.path("store.sqlite")
        let texts = texts
        let store = try Store(.file(path))
        try await store.write { try $0.set("a", for: "a", in: texts) }
        try store.close()
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            try database.execute(
                sql: "UPDATE godwit_ledger SET collection = 'other' WHERE collection = 'texts'"
            )
        }
        try queue.close()
        #expect(throws: StoreError.self) { try Store(.file(path)) }
    }

    @Test func `a backup of a store in memory is a store in a file`() async throws {
        let texts = texts
        let store = try Store(.memory)
        try await store.write { try $0.set("first", for: "0", in: texts) }
        let copy = folder.path("copy.sqlite")
        try await store.backup(to: copy)
        try store.close()
        let opened = try Store(.file(copy))
        #expect(try await opened.read { try $0.get("0", in: texts) } == "first")
        try opened.close()
    }

    @Test func `a backup is the store at one commit, made while others write`() async throws {
        let texts = texts
        let store = try Store(.file(folder.path("store.sqlite")))
        try await store.write { try $0.set("first", for: "0", in: texts) }
        for number in 1...2_000 {
            try store.writeLater { try $0.set("text \(number)", for: "\(number)", in: texts) }
        }
        let copy = folder.path("copy.sqlite")
        try await store.backup(to: copy)
        try await store.flush()
        await #expect(throws: StoreError.self) { try await store.backup(to: copy) }
        let opened = try Store(.file(copy))
        let (count, last) = try await opened.read { (try $0.count(in: texts), $0.lastCommit) }
        #expect(Int64(count) == last.rawValue, "one object a commit")
        let report = try await opened.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try opened.close()
        try await store.write { try $0.removeAll(in: texts) }
        let before = try await store.statistics().databaseSize
        try await store.vacuum()
        #expect(try await store.statistics().databaseSize < before)
        try store.close()
    }
}
