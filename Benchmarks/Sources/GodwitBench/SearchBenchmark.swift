import Foundation
import GRDB
import Godwit
import GodwitTestKit

/// Full-text search beside a plain table of FTS5, and queries by key paths beside SQL on an index.
struct SearchBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private struct Note: Codable, Sendable {
        var number: Int
        var city: String
        var text: String

        init(_ number: Int) {
            self.number = number
            city = "city \(number % 97)"
            text = (0..<12).map { Self.word(number &* 31 &+ $0 &* $0 &* 7_919) }.joined(
                separator: " "
            )
        }

        init(_ row: Row) { (number, city, text) = (row["number"], row["city"], row["text"]) }

        static func word(_ number: Int) -> String { "word\(number % 5_003)" }
    }

    private static let notes = Store.Collection<Note>("notes")
    private static let words = Store.Index.fullText("words", on: "text")
    private static let byCity = Store.Index("byCity", on: "city", "number")
    private static let sizes = [1_000, 10_000, 100_000]
    private static let rounds = 300

    func run() async throws {
        for size in Self.sizes {
            report.title(
                "search: \(size) objects of 12 words, 20 best; a query of 20 by an index; µs each"
            )
            let (store, plain) = (try open(size), try self.plain(size))
            try await fill(store, plain, size)
            try await search(store, plain, size)
            try await query(store, plain, size)
            try plain.close()
            try store.close()
        }
    }

    private func open(_ size: Int) throws -> Store {
        var options = Store.Options()
        options.collections = [CollectionRules(Self.notes, indexes: [Self.words, Self.byCity])]
        return try Store(.file(folder.path("search-\(size).sqlite")), options: options)
    }

    private func plain(_ size: Int) throws -> DatabasePool {
        let plain = try DatabasePool(path: folder.path("plain-\(size).sqlite"))
        try plain.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, number INTEGER, city TEXT, text TEXT);
                    CREATE INDEX byCity ON note (city, number);
                    CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61 remove_diacritics 2');
                    """
            )
        }
        return plain
    }

    private func fill(_ store: Store, _ plain: DatabasePool, _ size: Int) async throws {
        for start in stride(from: 0, to: size, by: 1_000) {
            let notes = (start..<start + 1_000).map { Note($0) }
            try await store.write { transaction in
                for note in notes { try transaction.set(note, for: note.number, in: Self.notes) }
            }
            try await plain.write { database in
                for note in notes {
                    try database.execute(
                        sql: "INSERT INTO note VALUES (?, ?, ?, ?)",
                        arguments: [note.number, note.number, note.city, note.text]
                    )
                    try database.execute(
                        sql: "INSERT INTO words (rowid, text) VALUES (?, ?)",
                        arguments: [note.number, note.text]
                    )
                }
            }
        }
    }

    private func search(_ store: Store, _ plain: DatabasePool, _ size: Int) async throws {
        let ours = try await store.read { transaction in
            try Self.timed { round in
                let word = Note.word(round * 13)
                let query = Self.notes.matching(.allWords(word), by: Self.words).limit(20)
                return try transaction.objects(query).count
            }
        }
        let peer = try await plain.read { database in
            let statement = try database.makeStatement(
                sql: """
                    SELECT note.number, note.city, note.text, rank, snippet(words, -1, '<', '>', '…', 16)
                    FROM words JOIN note ON note.id = words.rowid
                    WHERE words MATCH ? ORDER BY rank, note.number LIMIT 20
                    """
            )
            return try Self.timed { round in
                let word = "\"\(Note.word(round * 13))\""
                return try Row.fetchAll(statement, arguments: [word]).count
            }
        }
        precondition(ours.found == peer.found, "Both find the same: \(ours.found), \(peer.found)")
        add("full-text search", ours.time, peer.time, size, .atMost(1.3))
    }

    private func query(_ store: Store, _ plain: DatabasePool, _ size: Int) async throws {
        let ours = try await store.read { transaction in
            try Self.timed { round in
                let query = Self.notes.where(\.city, .equal("city \(round % 97)"))
                    .where(\.number, .atLeast(round)).order(by: \.number).limit(20)
                return try transaction.objects(query).count
            }
        }
        let peer = try await plain.read { database in
            let statement = try database.makeStatement(
                sql: "SELECT * FROM note WHERE city = ? AND number >= ? ORDER BY number LIMIT 20"
            )
            return try Self.timed { round in
                let arguments: StatementArguments = ["city \(round % 97)", round]
                return try Row.fetchAll(statement, arguments: arguments)
                    .map(Note.init).count
            }
        }
        precondition(ours.found == peer.found, "Both find the same: \(ours.found), \(peer.found)")
        add("query by key paths", ours.time, peer.time, size, .none)
    }

    /// The mean time of a round in microseconds, and how much all rounds have found.
    private static func timed(_ round: (Int) throws -> Int) rethrows -> (time: Double, found: Int) {
        var found = 0
        for number in 0..<rounds / 10 { _ = try round(number) }
        let time = try ContinuousClock().measure {
            for number in 0..<rounds { found += try round(number) }
        }
        return (time / .microseconds(1) / Double(rounds), found)
    }

    private func add(
        _ name: String,
        _ ours: Double,
        _ peer: Double,
        _ size: Int,
        _ target: Comparison.Target
    ) {
        report.add(
            .init(
                name: "\(name), \(size) objects",
                ours: ours,
                peer: peer,
                unit: "µs",
                target: target
            )
        )
    }
}
