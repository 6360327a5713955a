import GRDB
import GodwitStore

/// One run of a scenario on a store, with a report of what was promised.
final class Session {
    struct Abandoned: Error {}

    let path: String
    private let acknowledgesEarly: Bool
    private let report: @Sendable (Report) -> Void
    private var store: Store?

    /// - Parameter acknowledgesEarly: Whether to lie, and promise a commit before it is begun.
    init(
        path: String,
        acknowledgesEarly: Bool = false,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.path = path
        self.acknowledgesEarly = acknowledgesEarly
        self.report = report
    }

    /// Runs all steps; one that is refused does not keep the next from trying.
    ///
    /// Whether the store could be read at the end is told, unless it could not even be opened.
    func run(_ scenario: Scenario) async {
        await attempt("open") { try self.open() }
        for (number, step) in scenario.steps.enumerated() {
            await run(step, number: number)
        }
        await attempt("open") { _ = try self.opened() }
        guard store != nil else { return }
        await attempt("holds") { self.report(.holds(marks: try await self.read())) }
        await attempt("close") {
            try await self.close()
            self.report(.closed)
        }
    }

    private func run(_ step: Step, number: Int) async {
        let mark = Scenario.mark(number)
        await attempt(mark) {
            switch step {
            case .write(let changes):
                try await self.writer().write(Write(mark: mark, changes: changes))
            case .abandon(let changes):
                try await self.writer().abandon(Write(mark: mark, changes: changes))
            case .grouped(let all):
                let writes = all.enumerated().map {
                    Write(mark: Scenario.mark(number, $0), changes: $1)
                }
                try await self.writer().writeGrouped(writes)
            case .together(let all):
                let writes = all.enumerated().map { writer, changes in
                    Write(mark: Scenario.mark(number, writer), changes: changes)
                }
                try await self.writer().writeTogether(writes)
            case .call(let body):
                try await body(self)
            }
        }
    }

    private func attempt(_ mark: String, _ body: () async throws -> Void) async {
        do { try await body() } catch { report(.refused(mark: mark, reason: "\(error)")) }
    }

    private func writer() throws -> SessionWriter {
        SessionWriter(store: try opened(), acknowledgesEarly: acknowledgesEarly, report: report)
    }
}

extension Session {
    /// The store, which is opened if an earlier attempt has failed.
    func opened() throws -> Store {
        if let store { return store }
        return try open()
    }

    @discardableResult func open() throws -> Store {
        let store = try Store(.file(path))
        self.store = store
        return store
    }

    func close() async throws {
        let old = try opened()
        store = nil
        try old.close()
    }

    /// Closes the store and opens it again; if closing fails, the store is given up as it is.
    func reopen() async throws {
        do { try await close() } catch { report(.refused(mark: "close", reason: "\(error)")) }
        try open()
    }

    /// The marks that are there; each must have its twin.
    @discardableResult func read() async throws -> [String] { try await writer().read() }

    /// Brings what is in the log into the database file, by a connection beside the store.
    func checkpoint() async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction {
            _ = try Row.fetchAll($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try queue.close()
    }
}

/// The transactions of a session, which may run in several tasks.
private struct SessionWriter: Sendable {
    let store: Store
    let acknowledgesEarly: Bool
    let report: @Sendable (Report) -> Void

    func write(_ write: Write) async throws {
        if acknowledgesEarly { report(.done(mark: write.mark, commit: 0)) }
        let commit = try await store.write { transaction in
            try write.change.perform(transaction)
            return transaction.commit.rawValue
        }
        if !acknowledgesEarly { report(.done(mark: write.mark, commit: commit)) }
    }

    func abandon(_ write: Write) async throws {
        try await store.write { transaction in
            try write.change.perform(transaction)
            throw Session.Abandoned()
        }
    }

    func writeTogether(_ writes: [Write]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for write in writes {
                group.addTask {
                    do {
                        try await self.write(write)
                    } catch {
                        report(.refused(mark: write.mark, reason: "\(error)"))
                    }
                }
            }
            group.addTask { _ = try await read() }
            try await group.waitForAll()
        }
    }

    func writeGrouped(_ writes: [Write]) async throws {
        await store.suspend()
        let tickets = try writes.map { write in
            try store.writeLater { transaction in
                try write.change.perform(transaction)
                return transaction.commit.rawValue
            }
        }
        store.resume()
        for (write, ticket) in zip(writes, tickets) {
            do {
                let commit = try await ticket.finish().value
                report(.done(mark: write.mark, commit: commit))
            } catch {
                report(.refused(mark: write.mark, reason: "\(error)"))
            }
        }
    }

    func read() async throws -> [String] {
        let contents = try await store.read { try Contents(of: $0) }
        if contents.keys(in: Contents.twins) != contents.keys(in: Contents.marks) {
            report(.broken("a reader sees half a transaction"))
        }
        return contents.marked
    }
}
