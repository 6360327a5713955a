import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

/// Full-text search.
@Suite struct TextSearchTests {
    struct Note: Codable, Equatable, Identifiable, Sendable {
        var id: Int
        var title: String
        var lines: [String] = []
        var isOld = false
    }

    static let notes = Store.Collection<Note>("notes")
    static let words = Store.Index.fullText("words", on: Field(\Note.title), Field(\Note.lines))
    static let parts = Store.Index.fullText("parts", on: Field(\Note.title), by: .trigrams)

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(
        _ indexes: [Store.Index] = [words, parts],
        _ processes: Store.Options.Processes = .one
    ) throws -> Store {
        var options = Store.Options()
        options.collections = [CollectionRules(Self.notes, indexes: indexes)]
        options.processes = processes
        return try Store(.file(folder.path("store.sqlite")), options: options)
    }

    private func found(
        _ pattern: TextPattern,
        by index: Store.Index = words,
        in store: Store
    ) async throws -> Set<String> {
        try await store.read { Set(try $0.keys(Self.notes.matching(pattern, by: index))) }
    }

    @Test func `words are found whatever their case and accents, the last one when it is begun`()
        async throws
    {
        let store = try store()
        try await store.write { transaction in
            try transaction.set(Note(id: 1, title: "Red Wine"), in: Self.notes)
            try transaction.set(
                Note(id: 2, title: "Café", lines: ["red", "a window"]),
                in: Self.notes
            )
            try transaction.set(Note(id: 3, title: "White"), in: Self.notes)
        }
        #expect(try await found("red wi", in: store) == ["1", "2"])
        #expect(try await found("wi red", in: store) == [], "only the last word may be begun")
        #expect(try await found("WI", in: store) == ["1", "2"])
        #expect(try await found("cafe", in: store) == ["2"])
        #expect(try await found(.allWords("red wi"), in: store) == [])
        #expect(try await found(.anyWord("white café"), in: store) == ["2", "3"])
        #expect(try await found(.anyWord("caf whit"), in: store) == [], "no word may be begun")
        #expect(try await found(.phrase("red wine"), in: store) == ["1"])
        #expect(try await found(.phrase("wine red"), in: store) == [])
        #expect(try await found("red wi ", in: store) == [], "a space ends a word")
        #expect(try await found("indo", by: Self.parts, in: store) == [])
        #expect(try await found("hit", by: Self.parts, in: store) == ["3"])
        try store.close()
    }

    static let typed = [
        "", " ", "\"", "a\"b", "*", "a*", "(", ") OR (", "AND", "NOT x", "NEAR(a b)", "title:x",
        "^a", "-a", "a\0b",
        "a\"\u{301}b", "\"\u{200d} OR x", "'; DROP TABLE godwit_object; --", "é\u{301}", "{f0}: a",
        "🛒", "\u{1}\u{2}",
    ]

    @Test(arguments: typed)
    func `whatever a person types is looked for, and nothing else`(text: String) async throws {
        let store = try store()
        try await store.write { try $0.set(Note(id: 1, title: "x \(text) y"), in: Self.notes) }
        // SQLite takes an emoji for a letter.
        let hasWord = text.contains { $0.isLetter || $0 == "🛒" }
        for pattern in [TextPattern(text), .allWords(text), .anyWord(text), .phrase(text)] {
            #expect(try await found(pattern, in: store) == (hasWord ? ["1"] : []), "\(pattern)")
        }
        let query = Self.notes.matching("x", by: Self.words)
        let row = try await store.read { try $0.objects(query).first }
        #expect(row?.snippet.matches.isEmpty == false)
        try store.close()
    }

    @Test(arguments: 1...10 * Soak.factor)
    func `a search finds the objects that have the words now, in any transaction`(
        seed: Int
    ) async throws {
        var random = Seeded(seed: UInt64(seed))
        let all = ["red", "wine", "bread", "oil", "tea"]
        let store = try store()
        var model: [Int: Note] = [:]
        for _ in 0..<25 {
            let note = Note(
                id: Int.random(in: 0..<12, using: &random),
                title: all.filter { _ in random.happens(0.4) }.joined(separator: " "),
                lines: all.filter { _ in random.happens(0.2) },
                isOld: random.happens(0.5)
            )
            let isRemoved = random.happens(0.2)
            model[note.id] = isRemoved ? nil : note
            let word = all.randomElement(using: &random) ?? ""
            let expected = Set(
                model.values.filter {
                    ($0.title.split(separator: " ").map(String.init) + $0.lines).contains(word)
                }.map { "\($0.id)" }
            )
            let query = Self.notes.matching(.allWords(word), by: Self.words)
            try await store.write { transaction in
                if isRemoved {
                    try transaction.remove(note, in: Self.notes)
                } else {
                    try transaction.set(note, in: Self.notes)
                }
                #expect(Set(try transaction.keys(query)) == expected)
            }
            #expect(try await found(.allWords(word), in: store) == expected)
            let old = try await store.read {
                try $0.keys(query.where(\.isOld, .equal(true)).limit(3))
            }
            #expect(old.count == min(3, expected.count { model[Int($0) ?? 0]?.isOld == true }))
            #expect(old.allSatisfy { model[Int($0) ?? 0]?.isOld == true })
        }
        #expect(try await store.integrityCheck().isSound)
        try store.close()
    }

    @Test func `the best match is first, with the words that fit marked`() async throws {
        let store = try store()
        let filler = Array(repeating: "bread", count: 30)
        try await store.write { transaction in
            try transaction.set(
                Note(id: 1, title: "long", lines: filler + ["wine"] + filler),
                in: Self.notes
            )
            try transaction.set(Note(id: 2, title: "Wine", lines: ["wine wine"]), in: Self.notes)
        }
        let query = Self.notes.matching("wine", by: Self.words)
        let rows = try await store.read { try $0.objects(query) }
        #expect(rows.map(\.key) == ["2", "1"])
        #expect(rows[0].score > rows[1].score)
        #expect(rows[1].snippet.marked("<", ">").contains("<wine>"))
        #expect(rows[1].snippet.text.count < 200)
        for match in rows[1].snippet.matches { #expect(rows[1].snippet.text[match] == "wine") }
        try store.close()
    }

    static let scripts = [
        ("रॉक हिन्दी हि", "हि"), ("หนังสือ ดี", "หนังสือ"), ("cafe\u{301} abe\u{301}abe\u{301}", "abe"),
        ("ab\u{1}c \u{2}ab", "ab"), ("👩‍👩‍👧 family", "family"),
    ]

    @Test(arguments: scripts, [words, parts])
    func `a snippet of any script is a part of the text, and its marks are in it`(
        texts: (title: String, word: String),
        index: Store.Index
    ) async throws {
        let store = try store()
        try await store.write { try $0.set(Note(id: 1, title: texts.title), in: Self.notes) }
        let query = Self.notes.matching(TextPattern(texts.word), by: index)
        for row in try await store.read({ try $0.objects(query) }) {
            let plain = texts.title.unicodeScalars.filter { $0.value > 2 }
            #expect(Array(row.snippet.text.unicodeScalars) == Array(plain))
            let marked = row.snippet.marked("[", "]").unicodeScalars
            #expect(marked.filter { $0 == "[" }.count == row.snippet.matches.count)
            #expect(Array(marked.filter { $0 != "[" && $0 != "]" }) == Array(plain))
        }
        try store.close()
    }

    @Test func `marks within a character are where SQLite has put them`() {
        let snippet = TextSnippet(marked: "रॉक \u{1}ह\u{2}िन्दी \u{1}ह\u{2}ि")
        #expect(snippet.text == "रॉक हिन्दी हि")
        #expect(snippet.matches.map { Array(snippet.text[$0].unicodeScalars) } == [["ह"], ["ह"]])
        let composed = TextSnippet(marked: "\u{1}abe\u{2}\u{301}\u{1}abe\u{2}")
        #expect(composed.matches.map { Array(composed.text[$0].unicodeScalars).count } == [3, 3])
    }

    @Test func `a text of a million words is a search for the first of them`() async throws {
        let store = try store()
        try await store.write { try $0.set(Note(id: 1, title: "word"), in: Self.notes) }
        let pasted = TextPattern(String(repeating: "word ", count: 1_000_000))
        #expect(try await found(pasted, in: store) == ["1"])
        try store.close()
    }

    @Test func `a search with a test of a property that is stored elsewhere is refused`()
        async throws
    {
        struct Renamed: Codable, Sendable {
            var title = "wine"
            var isOnline = true
            enum CodingKeys: String, CodingKey { case title, isOnline = "online" }
        }
        let renamed = Store.Collection<Renamed>("renamed")
        let index = Store.Index.fullText("words", on: "title")
        var options = Store.Options()
        options.collections = [CollectionRules(renamed, indexes: [index])]
        let store = try Store(.memory, options: options)
        try await store.write { try $0.set(Renamed(), for: "a", in: renamed) }
        let query = renamed.matching("wine", by: index)
        #expect(try await store.read { try $0.count(query) } == 1)
        await #expect(throws: StoreError.self) {
            try await store.read { try $0.keys(query.where(\.isOnline, .equal(true))) }
        }
        try store.close()
    }

    @Test func `a write that fails leaves no words behind`() async throws {
        struct Stop: Error {}
        let store = try store()
        try await store.write { try $0.set(Note(id: 1, title: "old"), in: Self.notes) }
        await #expect(throws: Stop.self) {
            try await store.write { transaction in
                try transaction.set(Note(id: 1, title: "new"), in: Self.notes)
                try transaction.set(Note(id: 2, title: "new"), in: Self.notes)
                throw Stop()
            }
        }
        #expect(try await found("new", in: store) == [])
        #expect(try await found("old", in: store) == ["1"])
        #expect(try await store.integrityCheck().isSound)
        try store.close()
    }

    @Test func `an index that is declared later has what is there, and one that is not goes`()
        async throws
    {
        let first = try store([])
        try await first.write { try $0.set(Note(id: 1, title: "Red wine"), in: Self.notes) }
        await #expect(throws: StoreError.noIndex("words", collection: "notes")) {
            try await found("red", in: first)
        }
        try first.close()
        let second = try store()
        #expect(try await found("red", in: second) == ["1"])
        try second.close()
        let third = try store([Self.parts])
        #expect(try await found("wine", by: Self.parts, in: third) == ["1"])
        let tables = try await third.read {
            try String.fetchAll($0.database, sql: "SELECT name FROM sqlite_schema")
        }
        let keyTables = tables.filter { $0.hasPrefix("godwit_index_") && $0.hasSuffix("_key") }
        #expect(keyTables == ["godwit_index_2_key"])
        #expect(try await third.integrityCheck().isSound)
        try third.close()
    }

    @Test func `the check finds an entry that is missing or has other texts`() async throws {
        for damage in [
            "DELETE FROM godwit_index_1 WHERE rowid = 1", "UPDATE godwit_index_1 SET f0 = 'x'",
        ] {
            let folder = try TemporaryFolder()
            var options = Store.Options()
            options.collections = [CollectionRules(Self.notes, indexes: [Self.words])]
            let store = try Store(.file(folder.path("store.sqlite")), options: options)
            try await store.write { try $0.set(Note(id: 1, title: "Red wine"), in: Self.notes) }
            #expect(try await store.integrityCheck().isSound)
            try await store.write { try $0.database.execute(sql: damage) }
            #expect(try await !store.integrityCheck().isSound, "\(damage)")
            try store.close()
        }
    }

    @Test func `a search is told again when an object gets the word or loses it`() async throws {
        let store = try store()
        let query = Self.notes.matching("wine", by: Self.words)
        var values = store.values(of: query).makeAsyncIterator()
        #expect(try await values.next()?.isEmpty == true)
        try await store.write { try $0.set(Note(id: 1, title: "Wine"), in: Self.notes) }
        #expect(try await values.next()?.map(\.id) == ["1"])
        try await store.write { try $0.set(Note(id: 2, title: "Oil"), in: Self.notes) }
        try await store.write { try $0.update(1, in: Self.notes) { $0.title = "Tea" } }
        #expect(try await values.next()?.isEmpty == true)
        try store.close()
    }

    @Test func `keys are texts, numbers and UUIDs`() async throws {
        let store = try store()
        let id = UUID()
        let ids = Store.Collection<String>("ids")
        try await store.write { transaction in
            try transaction.set("by id", for: id, in: ids)
            try transaction.set("by number", for: 7, in: ids)
        }
        #expect(try await store.read { try $0.get(id, in: ids) } == "by id")
        #expect(try await store.read { try $0.get("7", in: ids) } == "by number")
        let keys = try await store.read { try $0.keys(in: ids) }
        #expect(keys.compactMap { UUID(storeKey: $0) } == [id])
        #expect(keys.compactMap { Int(storeKey: $0) } == [7])
        try store.close()
    }
}
