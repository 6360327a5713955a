import Foundation
import GodwitPostgreSQL
import GodwitServer
import GodwitStore
import GodwitTestKit

/// One, two and three servers on one PostgreSQL, beside pgbench on the same PostgreSQL.
///
/// An exchange of an edit is a decision about a replica with all that it stores; a transaction of pgbench's
/// simple update changes one row and appends another one. Everything is on one machine.
struct NodesBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private static let replicaCount = 50
    private static let editCount = 120
    private static let warmUpCount = 20
    private static let transactionCount = 600

    func run() async throws {
        report.title("nodes: servers on one PostgreSQL, beside pgbench's simple update (-N)")
        let path = folder.path("nodes.sqlite")
        let recorded = try await RecordedExchanges(
            replicas: Self.replicaCount,
            edits: Self.editCount,
            to: path
        )
        let cluster = try await PostgreSQLCluster(["shared_buffers=256MB"])
        try await cluster.run("pgbench", ["-q", "-i", "-s", "10"])
        for nodeCount in 1...3 {
            let transactions = try await transactionsPerSecond(on: cluster)
            let exchanges = try await exchangesPerSecond(
                recorded,
                nodeCount,
                try await copied(path, to: cluster),
                cluster
            )
            report.add(
                "\(nodeCount) \(nodeCount == 1 ? "node" : "nodes"), exchanges of an edit",
                exchanges,
                transactions,
                "/s",
                .atLeast(0.5)
            )
        }
    }

    /// The replicas as they are before the first request, in a database of their own.
    private func copied(_ path: String, to cluster: PostgreSQLCluster) async throws -> String {
        let address = try await cluster.database()
        let store = try Store(.file(path))
        let database = PostgreSQLDatabase(try PostgreSQLAddress(address))
        try await ServerCopy(store: store, database: database).run(.toDatabase)
        database.close()
        try store.close()
        return address
    }

    private func exchangesPerSecond(
        _ recorded: RecordedExchanges,
        _ nodeCount: Int,
        _ address: String,
        _ cluster: PostgreSQLCluster
    ) async throws -> Double {
        let nodes = try (0..<nodeCount).map { _ in
            try ServerUnderLoad(serving: .database(address))
        }
        defer { for node in nodes { node.stop() } }
        let first = recorded.messages.map { $0.prefix(Self.warmUpCount) }
        try await RecordedExchanges.send(first, to: nodes)
        let measured = recorded.messages.map { $0.dropFirst(Self.warmUpCount) }
        let cpu = try nodes.reduce(0) { $0 + (try $1.cpuSeconds) }
        let time = try await seconds { try await RecordedExchanges.send(measured, to: nodes) }
        // Each edit is a state: none of the requests was stale.
        let sql =
            "SELECT min(serial) = max(serial) AND min(serial) >= \(Self.editCount) FROM godwit_line"
        guard try await cluster.query(sql, in: address) == "t" else { throw WrongResult() }
        let count = Double(measured.reduce(0) { $0 + $1.count })
        let each = (try nodes.reduce(0) { $0 + (try $1.cpuSeconds) } - cpu) / count
        report.note("the nodes' CPU for each exchange: \(Int(each * 1e6)) µs")
        return count / time
    }

    /// As many clients as there are replicas, with so many transactions each: the timer of pgbench is a signal
    /// that a child of this program does not get.
    private func transactionsPerSecond(on cluster: PostgreSQLCluster) async throws -> Double {
        let text = try await cluster.run(
            "pgbench",
            [
                "-N", "-n", "-M", "prepared", "-c", "\(Self.replicaCount)", "-j", "2",
                "-t", "\(Self.transactionCount)",
            ]
        )
        guard let found = text.firstMatch(of: /tps = ([0-9.]+)/), let number = Double(found.1)
        else { throw WrongResult() }
        return number
    }
}
