import Foundation
import GRDB
import Godwit
import GodwitTestKit

/// What a durable write of one object costs, beside the same row written through GRDB alone.
struct StoreBenchmark {
    let folder: TemporaryFolder

    private static let writeCount = 1_000
    private static let rounds = 3

    func run() async throws {
        print(row("size of an object", "godwit /s", "GRDB /s", "ratio"))
        for size in [100, 1_000, 10_000] {
            var (own, peer): ([Double], [Double]) = ([], [])
            for round in 0..<Self.rounds {
                own.append(try await godwit(size: size, round: round))
                peer.append(try await plain(size: size, round: round))
            }
            let (ours, theirs) = (own.sorted()[Self.rounds / 2], peer.sorted()[Self.rounds / 2])
            let ratio = String(format: "%.2f", ours / theirs)
            print(row("\(size) bytes", "\(Int(ours))", "\(Int(theirs))", ratio))
        }
    }

    private func godwit(size: Int, round: Int) async throws -> Double {
        let store = try Store(.file(folder.path("store-\(size)-\(round).sqlite")))
        let objects = Store.Collection<Data>("objects")
        let object = Data(repeating: 7, count: size)
        let taken = try await seconds {
            for number in 0..<Self.writeCount {
                try await store.write { transaction in
                    var object = object
                    object[0] = UInt8(number % 256)
                    try transaction.set(object, for: "\(number)", in: objects)
                }
            }
        }
        try store.close()
        return Double(Self.writeCount) / taken
    }

    private func plain(size: Int, round: Int) async throws -> Double {
        let pool = try DatabasePool(path: folder.path("plain-\(size)-\(round).sqlite"))
        try await pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try await pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE object (collection TEXT, key TEXT, value BLOB,
                        PRIMARY KEY (collection, key)) WITHOUT ROWID
                    """
            )
        }
        let object = Data(repeating: 7, count: size)
        let taken = try await seconds {
            for number in 0..<Self.writeCount {
                try await pool.write { database in
                    var object = object
                    object[0] = UInt8(number % 256)
                    try database.cachedStatement(
                        sql: "INSERT INTO object (collection, key, value) VALUES (?, ?, ?)"
                    ).execute(arguments: ["objects", "\(number)", object])
                }
            }
        }
        try pool.close()
        return Double(Self.writeCount) / taken
    }
}
