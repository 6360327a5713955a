import ArgumentParser
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

/// Brings tables up to date.
struct ServerMigrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Make the tables of a database, or bring them up to date.",
        discussion: """
            `godwit serve` does so when it starts. Run it before, where servers may
            not change tables, or where the database has no advisory locks. It takes
            one lock, so that it may be run several times at once.

            EXAMPLES
              godwit server migrate --database postgres://admin@db.example.com/sync
            """
    )

    @OptionGroup var database: DatabaseArgument
    @Flag(help: "Print one object.") var json = false

    func validate() throws {
        guard database.address != nil else {
            throw ValidationError("Name the database: --database postgres://user@host/name.")
        }
    }

    func run() async throws {
        #if PostgreSQL
        guard let opened = try database.opened() else { return }
        let count = try await opened.migrate()
        opened.close()
        if json { return try Terminal.print(json: ["steps": .int(Int64(count))]) }
        try Terminal.print(count == 0 ? "the tables are up to date" : "steps done: \(count)")
        #endif
    }
}
