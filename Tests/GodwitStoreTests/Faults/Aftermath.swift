import GRDB
import GodwitStore
import GodwitTree
import Testing

@testable import GodwitFaultRunner

/// What is found where a scenario was disturbed.
struct Aftermath {
    /// The promises that were broken; none, if all is well.
    private(set) var broken: [String] = []
    /// Transactions whose writer was told of an error, or nothing, and that are there.
    private(set) var ambiguousCount = 0

    /// Opens the store that a run has left, and compares it with what the run has said.
    init(of scenario: Scenario, at path: String, reports: [Report]) async {
        do {
            let store = try Store(.file(path))
            try await look(at: store, scenario, reports)
            try await use(store, after: reports)
            try store.close()
        } catch {
            broken.append("the store is unusable: \(error)")
        }
    }

    private mutating func look(
        at store: Store,
        _ scenario: Scenario,
        _ reports: [Report]
    ) async throws {
        let (contents, integrity) = try await store.read { transaction in
            let integrity = try String.fetchAll(
                transaction.database,
                sql: "PRAGMA integrity_check"
            )
            return (try Contents(of: transaction), integrity)
        }
        if integrity != ["ok"] { broken.append("integrity: \(integrity)") }
        let found = Set(contents.marked)
        let promised = Set(reports.flatMap(\.promisedMarks))
        let lost = promised.subtracting(found).sorted()
        if !lost.isEmpty { broken.append("lost: \(lost)") }
        if let difference = contents.difference(from: scenario.contents(with: found)) {
            broken.append(difference)
        }
        ambiguousCount = found.subtracting(promised).count
        for case .broken(let promise) in reports { broken.append(promise) }
    }

    /// Commits once more: the store must go on, and its numbers with it.
    private mutating func use(_ store: Store, after reports: [Report]) async throws {
        let numbers = Store.Collection<Int>("afterwards")
        let commit = try await store.write { transaction in
            try transaction.set(1, for: "a", in: numbers)
            return transaction.commit.rawValue
        }
        let last = reports.map(\.commit).max() ?? 0
        if commit <= last { broken.append("commit \(commit) comes after \(last)") }
    }
}

extension Report {
    /// Whether an open store could not be read.
    var isRefusalToRead: Bool {
        guard case .refused("holds", _) = self else { return false }
        return true
    }

    /// The transactions that must be there from now on: who has seen one will look for it again.
    fileprivate var promisedMarks: [String] {
        switch self {
        case .done(let mark, _): [mark]
        case .holds(let marks): marks
        case .refused, .broken, .closed: []
        }
    }

    fileprivate var commit: Int64 {
        guard case .done(_, let commit) = self else { return 0 }
        return commit
    }
}

extension [Report] {
    /// The marks that the run saw at its end, if it came so far.
    var lastSeenMarks: [String]? {
        for case .holds(let marks) in self { return marks }
        return nil
    }
}

extension Scenario: CustomTestStringConvertible {
    public var testDescription: String { name }
}
