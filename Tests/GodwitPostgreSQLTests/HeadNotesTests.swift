#if PostgreSQL
import GodwitReplication
import GodwitTestKit
import Testing

@testable import GodwitPostgreSQL

/// Which heads are read, and how often: the machine alone.
@Suite struct HeadNotesTests {
    private static let names = (0..<5).compactMap { try? ReplicaName("replica-\($0)") }

    @Test func `replicas are read in the order in which they were noted, each once`() {
        var notes = HeadNotes(runningMax: 9, countMax: 9)
        for name in Self.names + Self.names { notes.note(name) }
        #expect(notes.takeAll() == Self.names)
        #expect(notes.waitingCount == 0)
    }

    @Test func `a replica that is noted while it is read is read once more`() {
        var notes = HeadNotes(runningMax: 9, countMax: 9)
        let name = Self.names[0]
        notes.note(name)
        #expect(notes.begin() == name)
        for _ in 0..<3 { notes.note(name) }
        // Not twice at once, and the others go on.
        #expect(notes.begin() == nil)
        notes.note(Self.names[1])
        #expect(notes.begin() == Self.names[1])
        notes.end(name)
        #expect(notes.begin() == name)
        notes.end(name)
        #expect(notes.begin() == nil)
    }

    @Test func `no more are read at once, and no more wait, than may`() {
        var notes = HeadNotes(runningMax: 2, countMax: 2)
        for name in Self.names { notes.note(name) }
        #expect(notes.waitingCount == 2)
        #expect(notes.takeAll() == Array(Self.names.prefix(2)))
        notes.note(Self.names[4])
        #expect(notes.begin() == nil)
        notes.end(Self.names[1])
        #expect(notes.begin() == Self.names[4])
    }

    @Test(arguments: 0..<20)
    func `whatever comes when, each note is followed by a reading that begins after it`(seed: Int) {
        var random = Seeded(seed: UInt64(seed))
        var notes = HeadNotes(runningMax: 2, countMax: 5)
        var unread: Set<ReplicaName> = []
        var running: [ReplicaName] = []
        for _ in 0..<2_000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                let name = Self.names.randomElement(using: &random) ?? Self.names[0]
                notes.note(name)
                unread.insert(name)
            case 1:
                guard let name = notes.begin() else { continue }
                #expect(!running.contains(name) && running.count < 2)
                running.append(name)
                unread.remove(name)
            default:
                guard !running.isEmpty else { continue }
                notes.end(running.remove(at: Int.random(in: 0..<running.count, using: &random)))
            }
        }
        while !running.isEmpty || notes.waitingCount > 0 {
            for name in running { notes.end(name) }
            running = notes.takeAll()
            unread.subtract(running)
        }
        #expect(unread == [])
    }
}

extension HeadNotes {
    /// Begins with as many as may be read at once.
    fileprivate mutating func takeAll() -> [ReplicaName] {
        var names: [ReplicaName] = []
        while let name = begin() { names.append(name) }
        return names
    }
}
#endif
