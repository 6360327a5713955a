import GRDB
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

/// Sorted and grouped lists that follow a view.
@Suite struct LiveListTests {
    enum Presence: Int, Codable, Comparable {
        case online, away, offline

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    struct Contact: Codable, Equatable {
        var name: String
        var presence: Presence
        var isHidden = false
        var phone: String?
    }

    let contacts = Store.Collection<Contact>("contacts")

    @Test func `a list tells what a table view needs to know`() async throws {
        let store = try Store(.memory)
        let contacts = contacts
        try await store.write { transaction in
            for (key, name) in [("1", "Ann"), ("2", "Bob"), ("3", "Cid")] {
                try transaction.set(Contact(name: name, presence: .online), for: key, in: contacts)
            }
        }
        let view = try await store.view()
        let list = try await view.list(
            contacts,
            where: { !$0.isHidden },
            grouped: { $0.presence },
            sorted: { $0.name }
        )
        #expect(list.sections == [.online] && list.keys() == ["1", "2", "3"])

        try await store.write { try $0.update("1", in: contacts) { $0.presence = .away } }
        #expect(list.keys() == ["1", "2", "3"], "nothing moves before the view does")
        try view.advance()
        #expect(list.sections == [.online, .away] && list.keys() == ["2", "3", "1"])
        #expect(list.change.insertedSections == [1])
        #expect(list.change.removed == [RowPosition(section: 0, row: 0)])

        try await store.write { transaction in
            try transaction.update("3", in: contacts) { $0.name = "Ada" }
            try transaction.update("1", in: contacts) { $0.name = "Anna" }
            try transaction.set(Contact(name: "Dan", presence: .online), for: "4", in: contacts)
        }
        try view.advance()
        #expect(list.keys() == ["3", "2", "4", "1"])
        let move = ListChange.Move(
            from: RowPosition(section: 0, row: 1),
            to: RowPosition(section: 0, row: 0)
        )
        #expect(list.change.moved.contains(move))
        #expect(list.change.inserted == [RowPosition(section: 0, row: 2)])
        #expect(list.position(of: "1") == RowPosition(section: 1, row: 0))
        #expect(list.change.updated.isEmpty, "each of them has moved, or is new")
        try await store.write { try $0.update("4", in: contacts) { $0.phone = "112" } }
        try view.advance()
        #expect(list.change.updated == [RowPosition(section: 0, row: 2)])
        #expect(list.change.moved.isEmpty && list.change.removed.isEmpty)
        try await store.write { try $0.update("1", in: contacts) { $0.isHidden = true } }
        try view.advance()
        #expect(list.change.removedSections == [1] && list.position(of: "1") == nil)
        try store.close()
    }

    @Test func `a list that had to be read anew goes on in steps`() async throws {
        let folder = try TemporaryFolder()
        var options = Store.Options()
        options.processes = .several
        let path = folder.path("store.sqlite")
        let (app, other) = (
            try Store(.file(path), options: options), try Store(.file(path), options: options)
        )
        let contacts = contacts
        try await app.write {
            try $0.set(Contact(name: "Ann", presence: .online), for: "1", in: contacts)
        }
        let view = try await other.view()
        let list = try await view.list(contacts, grouped: { $0.presence }, sorted: { $0.name })
        try await app.write {
            try $0.set(Contact(name: "Bob", presence: .online), for: "2", in: contacts)
            try $0.database.execute(sql: "DELETE FROM godwit_change")
        }
        // The log of what it has missed is gone.
        try await app.write { try $0.database.execute(sql: "DELETE FROM godwit_change") }
        #expect(try view.advance()?.isReset == true)
        #expect(list.change == .reset && list.keys() == ["1", "2"])
        try await other.write {
            try $0.set(Contact(name: "Cid", presence: .online), for: "3", in: contacts)
        }
        try view.advance()
        #expect(list.change.inserted == [RowPosition(section: 0, row: 2)])
        #expect(list.change != .reset && list.keys() == ["1", "2", "3"])
        try app.close()
        try other.close()
    }

    @Test func `a list of a view that is far behind has the rows of the view`() async throws {
        let store = try Store(.memory)
        let numbers = Store.Collection<Int>("numbers")
        try await store.write { try $0.set(-1, for: "first", in: numbers) }
        let view = try await store.view()
        // It misses more keys than a change set names.
        let half = ChangeSet.mergedMax / 2 + 1
        for start in [0, half] {
            try await store.write { transaction in
                for number in start..<start + half {
                    try transaction.set(number, for: "\(number)", in: numbers)
                }
            }
        }
        let list = try await view.list(numbers, sorted: \.self)
        #expect(list.keys() == ["first"])
        #expect(try view.advance()?.isReset == true)
        #expect(list.count == 2 * half + 1)
        try store.close()
    }

    @Test(arguments: 1...10 * Soak.factor)
    func `a list is what sorting anew would give, and its change leads there`(
        seed: Int
    ) async throws {
        var random = Seeded(seed: UInt64(seed))
        let store = try Store(.memory)
        let contacts = contacts
        let view = try await store.view()
        let list = try await view.list(
            contacts,
            where: { !$0.isHidden },
            grouped: { $0.presence },
            sorted: { Descending($0.name) }
        )
        var model: [String: Contact] = [:]
        for _ in 0..<80 {
            var edits: [String: Contact?] = [:]
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                edits["\(Int.random(in: 0..<40, using: &random))"] = contact(&random)
            }
            try await store.write { [edits] transaction in
                for (key, contact) in edits {
                    if let contact {
                        try transaction.set(contact, for: key, in: contacts)
                    } else {
                        try transaction.remove(key, in: contacts)
                    }
                }
            }
            for (key, contact) in edits { model[key] = contact }
            let before = sectioned(list)
            guard try view.advance() != nil else { continue }
            let after = sectioned(list)
            #expect(after == expected(model), "seed \(seed)")
            #expect(replay(list.change, on: before, to: after) == after, "seed \(seed)")
        }
        try store.close()
    }

    @Test func `an object that cannot be decoded is left out and named, and the rest goes on`()
        async throws
    {
        let store = try Store(.memory)
        let contacts = contacts
        try await store.write { transaction in
            try transaction.set(Contact(name: "Ann", presence: .online), for: "1", in: contacts)
            try transaction.setValue(["name": 7], of: contacts.place("2"))
        }
        let view = try await store.view()
        let list = try await view.list(contacts, sorted: { $0.name })
        let other = try await view.list(contacts, sorted: { $0.name })
        #expect(list.keys() == ["1"] && Set(list.unreadable.keys) == ["2"])
        try await store.write { transaction in
            try transaction.setValue("nothing", of: contacts.place("1"))
            try transaction.set(Contact(name: "Bob", presence: .online), for: "2", in: contacts)
            try transaction.set(Contact(name: "Cid", presence: .online), for: "3", in: contacts)
        }
        try view.advance()
        for list in [list, other] {
            #expect(list.keys() == ["2", "3"] && Set(list.unreadable.keys) == ["1"])
        }
        try store.close()
    }

    @Test func `a list that is made while the store changes has everything`() async throws {
        let store = try Store(.memory)
        let contacts = contacts
        try await store.write { transaction in
            for number in 0..<500 {
                let contact = Contact(name: "\(number)", presence: .online)
                try transaction.set(contact, for: "\(number)", in: contacts)
            }
        }
        let view = try await store.view()
        for number in 0..<200 {
            try store.writeLater { transaction in
                try transaction.remove("\(number)", in: contacts)
                let contact = Contact(name: "new", presence: .away)
                try transaction.set(contact, for: "new \(number)", in: contacts)
            }
        }
        let list = try await view.list(contacts, sorted: { $0.name })
        #expect(list.keys().sorted() == (try view.keys(in: contacts)).sorted())
        try await store.flush()
        try view.advance()
        #expect(list.keys().sorted() == (try view.keys(in: contacts)).sorted())
        #expect(list.count == 500)
        try store.close()
    }

    private func contact(_ random: inout Seeded) -> Contact? {
        guard Int.random(in: 0..<5, using: &random) > 0 else { return nil }
        return Contact(
            name: "\(Int.random(in: 0..<10, using: &random))",
            presence: Presence(rawValue: Int.random(in: 0..<3, using: &random)) ?? .away,
            isHidden: Int.random(in: 0..<6, using: &random) == 0
        )
    }

    private typealias Sections = [[String]]

    private func sectioned<Rank>(_ list: LiveList<Contact, Presence, Rank>) -> Sections {
        list.sections.indices.map { section in
            (0..<list.count(inSection: section)).map {
                list.key(at: RowPosition(section: section, row: $0))
            }
        }
    }

    private func expected(_ model: [String: Contact]) -> Sections {
        let groups = Dictionary(grouping: model.filter { !$0.value.isHidden }) {
            $0.value.presence
        }
        return groups.sorted { $0.key < $1.key }.map { _, members in
            members.sorted { left, right in
                if left.value.name != right.value.name { return left.value.name > right.value.name }
                return (left.key.count, left.key) < (right.key.count, right.key)
            }.map(\.key)
        }
    }

    /// Does to the old sections what a table view does; new rows are looked up in the new ones.
    private func replay(_ change: ListChange, on before: Sections, to after: Sections) -> Sections {
        var rows: [[String?]] = before
        for position in change.removed + change.moved.map(\.from) {
            rows[position.section][position.row] = nil
        }
        for section in change.removedSections { rows.remove(at: section) }
        var result = rows.map { $0.compactMap { $0 } }
        for section in change.insertedSections { result.insert(after[section], at: section) }
        for position in (change.inserted + change.moved.map(\.to)).sorted() {
            let key = after[position.section][position.row]
            result[position.section].insert(
                key,
                at: min(position.row, result[position.section].count)
            )
        }
        return result
    }
}
