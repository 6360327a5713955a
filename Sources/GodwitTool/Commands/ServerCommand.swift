import ArgumentParser
import Foundation
import GodwitReplication
import GodwitServer
import GodwitStore
import GodwitTree

#if PostgreSQL
import GodwitPostgreSQL
#endif

/// Cares for the database of a server.
struct ServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "Care for the PostgreSQL database of sync servers.",
        subcommands: [ServerMigrate.self]
    )
}

/// Brings tables up to date, or takes a server to another kind of storage.
struct ServerMigrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the tables of a database, or take a server's store to one, or back.",
        discussion: """
            With --database, it makes the tables or brings them up to date. `godwit serve`
            does so when it starts. Run it before, where servers may not change tables, or
            where the database has no advisory locks. It takes one lock, so that it may be
            run several times at once.
            With two places, one of them a file and the other a database, it copies all
            replicas, what is known of their devices, and the keys. Stop the servers
            before, start one over the copy, and none over the source again: devices go on
            where they were. The target has to be empty. If a copy is cut off, run it again
            with --replace: it refuses a target that has gone on since, all the same.

            EXAMPLES
              godwit server migrate --database postgres://admin@db.example.com/sync
              godwit server migrate server.sqlite postgres://godwit@db.example.com/sync
              godwit server migrate postgres://godwit@db.example.com/sync server.sqlite
            """
    )

    @Argument(help: "The store or the database to copy.") var source: String?
    @Argument(help: "The database or the store to copy it to.") var target: String?
    @OptionGroup var database: DatabaseArgument
    @Flag(help: "Write over an earlier copy.") var replace = false
    @Flag(help: "Print one object.") var json = false

    func validate() throws {
        switch (source, target, database.address) {
        case (nil, nil, _?): break
        case (let source?, let target?, nil):
            guard Self.isAddress(source) != Self.isAddress(target) else {
                throw ValidationError(
                    "One place is a file, and the other one postgres://user@host/name."
                )
            }
            try DatabaseArgument.check(Self.isAddress(source) ? source : target)
        case (_, _, nil):
            throw ValidationError(
                "Name the database, --database postgres://user@host/name, or two places."
            )
        default: throw ValidationError("Give --database, or two places.")
        }
    }

    private static func isAddress(_ text: String) -> Bool { text.contains("://") }

    func run() async throws {
        #if PostgreSQL
        if let source, let target { return try await copy(source, to: target) }
        guard let opened = try database.opened() else { return }
        let count = try await opened.migrate()
        opened.close()
        if json { return try Terminal.print(json: ["steps": .int(Int64(count))]) }
        try Terminal.print(count == 0 ? "the tables are up to date" : "steps done: \(count)")
        #endif
    }
}

#if PostgreSQL
extension ServerMigrate {
    private func copy(_ source: String, to target: String) async throws {
        let isToDatabase = Self.isAddress(target)
        let (file, address) = isToDatabase ? (source, target) : (target, source)
        guard !isToDatabase || FileManager.default.fileExists(atPath: file) else {
            throw ToolError("\(file): there is no such file")
        }
        let database = PostgreSQLDatabase(try PostgreSQLAddress(address))
        let store = try Store(.file(file))
        let json = json
        let copy = ServerCopy(store: store, database: database)
        let direction: ServerCopy.Direction = isToDatabase ? .toDatabase : .toStore
        let replicas = try await copy.run(direction, replacing: replace) { progress in
            guard !json else { return }
            try Terminal.print("\(progress.replica): \(progress.rowCount) rows")
        }
        database.close()
        try store.close()
        guard json else {
            return try Terminal.print("copied: \(replicas.count) replicas, and the keys")
        }
        let values = replicas.map { replica -> Value in
            ["name": .string(Key(replica.replica.text)), "rows": .int(Int64(replica.rowCount))]
        }
        try Terminal.print(json: ["replicas": .list(Value.List(values))])
    }
}
#endif
