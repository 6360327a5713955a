import GRDB
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

/// Objects that end a transaction as they began it.
@Suite struct UnchangedObjectTests {
    private let folder: TemporaryFolder
    private let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    private func open(_ change: (inout Store.Options) -> Void = { _ in }) throws -> Store {
        var options = Store.Options()
        change(&options)
        return try Store(.file(folder.path("store.sqlite")), options: options)
    }

    private func check(_ store: Store, _ count: Int, _ comment: Comment) async throws {
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(comment): \(report.problems)")
        let numbers = numbers
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys.count == count, comment)
    }

    private func lastCommit(of key: String, in store: Store) async throws -> CommitNumber? {
        try await store.read { transaction in
            try Int64.fetchOne(
                transaction.database,
                sql: "SELECT commit_number FROM godwit_object WHERE key = ?",
                arguments: [key]
            ).map(CommitNumber.init(rawValue:))
        }
    }

    @Test(arguments: [false, true])
    func `a transaction that ends as it began changes nothing`(isBesideOthers: Bool) async throws {
        let store = try open()
        let numbers = numbers
        try await store.write { transaction in
            for number in 1...3 { try transaction.set(number, for: "\(number)", in: numbers) }
        }
        let commit = try await lastCommit(of: "1", in: store)
        try await store.write { transaction in
            if isBesideOthers { try transaction.set(4, for: "4", in: numbers) }
            try transaction.set(10, for: "1", in: numbers)
            try transaction.set(1, for: "1", in: numbers)
            try transaction.removeAll(in: numbers)
            for number in 1...3 { try transaction.set(number, for: "\(number)", in: numbers) }
            if isBesideOthers { try transaction.set(4, for: "4", in: numbers) }
        }
        let count = isBesideOthers ? 4 : 3
        try await check(store, count, "after the transaction")
        let later = try await lastCommit(of: "1", in: store)
        #expect(later == commit, "it was not written")
        // The next write takes the old seal out of the sum, and the cache knows which one it is.
        try await store.write { try $0.set(11, for: "1", in: numbers) }
        try await check(store, count, "after the next write")
        try store.close()
        try await check(try open(), count, "after a relaunch")
    }

    @Test func `random changes and their undoing leave the sums right`() async throws {
        let store = try open()
        let numbers = numbers
        for seed in 0..<UInt64(200 * Soak.factor) {
            try await store.write { transaction in
                var random = Seeded(seed: seed)
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let key = "\(Int.random(in: 0..<4, using: &random))"
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: try transaction.remove(key, in: numbers)
                    default:
                        let value = Int.random(in: 0..<2, using: &random)
                        try transaction.set(value, for: key, in: numbers)
                    }
                }
            }
            let report = try await store.integrityCheck()
            #expect(report.isSound, "seed \(seed): \(report.problems)")
        }
        try store.close()
    }

    @Test func `a savepoint on the app's own connection is noticed within a part`() async throws {
        let pool = try DatabasePool(path: folder.path("store.sqlite"))
        let store = try Store(adopting: pool)
        let numbers = numbers
        try await pool.write { database in
            #expect(throws: StoreError.savepointRolledBack) {
                try store.write(in: database) { transaction in
                    try database.execute(sql: "SAVEPOINT row")
                    try transaction.set(1, for: "a", in: numbers)
                    try database.execute(sql: "ROLLBACK TO row; RELEASE row")
                    try transaction.set(2, for: "b", in: numbers)
                }
            }
            try store.write(in: database) { try $0.set(3, for: "c", in: numbers) }
        }
        let kept = try await store.read { try $0.keys(in: numbers) }
        #expect(kept == ["c"])
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }
}
