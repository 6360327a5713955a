import GodwitQueue
import GodwitTree

@testable import GodwitStore

/// The app that runs in the simulated world: notes that several processes write and push.
enum App {
    /// The notes as an app of this version has them: the second one counts ranks from 100.
    static func notes(_ version: Int) -> Store.Collection<Note> {
        Store.Collection("notes", version: version) { value, _ in
            StoredNote(value, version: 1).seen(by: 2)?.value ?? value
        }
    }

    static let notes = notes(1)
    /// The same keys as the notes', in another collection.
    static let labels = Store.Collection<Note>("labels")
    /// The commit of each write, by the write's number: what the disk says was committed.
    static let marks = Store.Collection<Int64>("marks")
    /// The pushes that were completed.
    static let done = Store.Collection<Int64>("done")

    static let byRank = Store.Index("byRank", on: "rank", "number")
    static let byNumber = Store.Index("byNumber", on: "number")

    static let keys = (0..<6).map { "n\($0)" }
    /// The pipelines, one in commit order and one in flat order.
    static let (line, flat) = ("line", "flat")
}

struct Note: Codable, Hashable, Sendable {
    var number: Int64
    var rank: Int64

    var value: Value { ["number": .int(number), "rank": .int(rank)] }
}

/// A note with the version of the app that wrote it.
struct StoredNote: Hashable {
    static let rankStep: Int64 = 100

    var note: Note
    var version: Int

    init(_ note: Note, version: Int) { (self.note, self.version) = (note, version) }

    init(_ value: Value, version: Int) {
        let (number, rank) = (value["number"]?.int64 ?? -1, value["rank"]?.int64 ?? -1)
        self.init(Note(number: number, rank: rank), version: version)
    }

    /// The note as an app of this version reads it; nil if it is too old to read it.
    func seen(by version: Int) -> Note? {
        guard self.version <= version else { return nil }
        let steps = Int64(version - self.version)
        return Note(number: note.number, rank: note.rank + steps * Self.rankStep)
    }

    /// The note as the cloud has it.
    var newest: Note? { seen(by: 2) }
}

/// What the app's resolver says of a conflict that it does not understand.
struct Puzzled: Error {}

/// Brings the newest content of a note, or of a label, to the cloud.
struct Push: PushOperation, Hashable {
    static let kind = "push"
    let name: String
    let collection: String
    let key: String
    /// Whether it may be merged with others on the same note.
    let hasEffect: Bool

    var place: ObjectKey { ObjectKey(collection: Key(collection), key: Key(key)) }
    /// Half of the notes belong to a host that may ask for a slower pace.
    var host: String? { key < "n3" ? "a.example" : nil }
    var objects: [ObjectKey] { [place] }
    var footprint: Footprint { .put(RemotePath("/\(collection)/\(key)")) }
    var effect: Effect? { hasEffect ? .write(key, of: collection) : nil }
}
