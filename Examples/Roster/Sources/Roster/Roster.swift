import Foundation
import Godwit

/// A roster whose contacts come and go: thousands of small writes, and a list that follows.
///
/// The connection writes each presence by itself and waits for none; the store makes few
/// transactions of them. The list on the screen shows one commit at a time, and learns which
/// rows have moved.
@main
struct Roster {
    static func main() async throws {
        let arguments = try Arguments(CommandLine.arguments.dropFirst())
        let store = try Store(arguments.location)
        let (contacts, roster) = (
            Store.Collection<Contact>.contacts, Server(contactCount: arguments.contactCount).roster
        )
        try await store.write { transaction in
            for (id, contact) in roster { try transaction.set(contact, for: id, in: contacts) }
        }
        let screen = try await Screen(store, count: roster.count)
        let start = ContinuousClock().now
        try await screen.follow {
            try await receive(arguments.presenceCount, arguments.contactCount, into: store)
        }
        let seconds = (ContinuousClock().now - start) / .seconds(1)
        try await screen.summarize(store, seconds: seconds)
        try store.close()
    }

    /// The connection: writes what arrives, in the order in which it arrives.
    private static func receive(
        _ presenceCount: Int,
        _ contactCount: Int,
        into store: Store
    ) async throws {
        var server = Server(contactCount: contactCount)
        let contacts = Store.Collection<Contact>.contacts
        for number in 1...presenceCount {
            let news = server.nextPresence()
            try store.writeLater { transaction in
                try transaction.update(news.contact, in: contacts) {
                    $0.devices[news.device] = news.presence
                }
            }
            // Let the line become shorter before it becomes too long.
            if number.isMultiple(of: 10_000) { try await store.flush() }
        }
        try await store.flush()
    }
}

/// What the user sees: belongs to the main actor, like a table view.
@MainActor
final class Screen {
    private let view: ReadView
    private let list: LiveList<Contact, Contact.Presence, String>
    private let count: Int
    private var stepCount = 0
    private var moveCount = 0

    init(_ store: Store, count: Int) async throws {
        view = try await store.view()
        list = try await view.list(
            .contacts,
            grouped: { $0.presence },
            sorted: { $0.name }
        )
        self.count = count
    }

    /// Follows the store until `work` is done and all of it is on the screen.
    func follow(while work: @Sendable () async throws -> Void) async throws {
        let following = Task { try await view.follow { _ in show() } }
        try await work()
        following.cancel()
        _ = await following.result
        if try view.advance() != nil { show() }
    }

    private func show() {
        stepCount += 1
        moveCount += list.change.moved.count
        precondition(list.count == count, "Nobody gets lost on the screen")
    }

    func summarize(_ store: Store, seconds: Double) async throws {
        let statistics = try await store.statistics()
        for (index, section) in list.sections.enumerated() {
            let first = list.key(at: RowPosition(section: index, row: 0))
            let name = try view.get(first, in: .contacts)?.name ?? "?"
            print("\(section): \(list.count(inSection: index)), first of them \(name)")
        }
        print(
            """
            \(statistics.commit) commits in \(statistics.groupCount) transactions, \
            \(stepCount) steps of the screen, \(moveCount) rows moved, \
            \(Int(Double(statistics.commit.rawValue) / seconds)) presences a second
            """
        )
    }
}

/// `--memory` or `--disk FILE`, `--contacts 5000`, `--presences 20000`.
struct Arguments {
    private(set) var location = Store.Location.memory
    private(set) var contactCount = 5_000
    private(set) var presenceCount = 20_000

    struct Misuse: Error, CustomStringConvertible {
        let description = """
            usage: roster [--memory | --disk FILE] [--contacts N] [--presences N]
            """
    }

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--memory": location = .memory
            case "--disk": location = .file(try Self.next(&rest))
            case "--contacts": contactCount = try Self.number(&rest)
            case "--presences": presenceCount = try Self.number(&rest)
            default: throw Misuse()
            }
        }
    }

    private static func next(_ rest: inout ArraySlice<String>) throws -> String {
        guard let next = rest.popFirst() else { throw Misuse() }
        return next
    }

    private static func number(_ rest: inout ArraySlice<String>) throws -> Int {
        guard let number = Int(try next(&rest)), number > 0 else { throw Misuse() }
        return number
    }
}
