import ArgumentParser
import Foundation
import GodwitServer
import GodwitStore
import GodwitTree

#if PostgreSQL
import GodwitPostgreSQL
#endif

/// Makes, lists and revokes the API keys of a server.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make, list and revoke the API keys of a server.",
        discussion: """
            The keys are in the server's store, as hashes. The commands work beside a server
            that was started with --keys: a key that is revoked lets no further request in,
            and ends an open stream of events within 30 seconds.

            EXAMPLES
              godwit key new phone --store server.sqlite --create 'acme.*'
              godwit key ls --store server.sqlite
              godwit key revoke 5d0f51c1cbd3a3b6 --store server.sqlite
              godwit key ls --database postgres://godwit@db.example.com/sync
            """,
        subcommands: [KeyNew.self, KeyList.self, KeyRevoke.self]
    )
}

/// Which server's store the keys are in.
struct KeyStoreArgument: ParsableArguments {
    @Option(help: "The server's store.") var store = "godwit-server.sqlite"
    @OptionGroup var database: DatabaseArgument

    /// Does something with the keys, also beside a server that shares its store.
    func change<Result>(
        mayCreate: Bool = false,
        _ body: (APIKeys) async throws -> Result
    ) async throws -> Result {
        #if PostgreSQL
        if let database = try database.opened() {
            try await database.migrate()
            let result = try await body(APIKeys(database))
            database.close()
            return result
        }
        #endif
        let isNew = !FileManager.default.fileExists(atPath: store)
        guard mayCreate || !isNew else {
            throw ToolError(StoreError.noStore(path: store).description)
        }
        var options = Store.Options()
        options.processes = .several
        do {
            let opened = try Store(.file(store), options: options)
            if isNew { Terminal.warn("made a new store: start its server with --store \(store)") }
            let result = try await body(APIKeys(opened))
            try opened.close()
            return result
        } catch StoreError.alreadyOpen {
            throw ToolError(
                "\(store) is in use by a process alone: start its server with --keys, or stop it"
            )
        }
    }
}

extension KeyStoreArgument {
    /// All keys, also of a store that is in use.
    func list() async throws -> APIKeyList {
        if database.address != nil { return try await change { try await $0.all() } }
        let opened = try Store(.file(store), options: .readOnly)
        let list = try await APIKeys.all(in: opened)
        try opened.close()
        return list
    }
}

/// Makes a key.
struct KeyNew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a key and print it: the only time it can be seen.",
        discussion: """
            A pattern is the name of a replica, or the beginning of one with * behind it. A
            key without --expires-in is good until it is revoked. Keys of one name are one
            principal: to replace a key, make another one of its name and revoke the first.

            EXAMPLES
              godwit key new phone --store server.sqlite --write shopping
              godwit key new acme --create 'acme.*' --expires-in 90d --json
              godwit key new backup --read '*' > backup.key
            """
    )

    @Argument(help: "Whose key it is.") var name: String
    @OptionGroup var argument: KeyStoreArgument
    @OptionGroup var rights: RightsArguments
    @Option(help: "For how long it is good: 90d, 12h, 15m; a number alone means days.")
    var expiresIn: Lifetime?
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let made = try await argument.change(mayCreate: true) { keys in
            let lifetime = expiresIn.map { Duration.seconds($0.seconds) }
            return try await keys.create(name, rights: rights.rights(), lifetime: lifetime)
        }
        guard json else {
            Terminal.warn("key \(made.key.id) of \(name): \(made.key.rights.words)")
            return try Terminal.print(made.token)
        }
        var map = made.key.encoded
        map["token"] = .string(Key(made.token))
        try Terminal.print(json: .map(map))
    }
}

/// Lists keys.
struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the keys of a server: their rights, and when they were last used.",
        discussion: """
            The store may be in use. A use is noted once a minute.

            EXAMPLES
              godwit key ls --store server.sqlite
              godwit key ls --store server.sqlite --json
            """
    )

    @OptionGroup var argument: KeyStoreArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let list = try await argument.list()
        guard !json else {
            let values = list.keys.map { Value.map($0.encoded) }
            let damaged = list.damaged.map { ["id": .string(Key($0)), "isDamaged": true] as Value }
            return try Terminal.print(json: .list(Value.List(values + damaged)))
        }
        let rows = list.keys.map { key in
            [
                key.id, key.name, key.rights.words,
                key.lastUsed.map { "used \($0.stamp)" } ?? "never used",
                key.expires.map { "\($0 > Date() ? "expires" : "expired") \($0.stamp)" } ?? "",
            ]
        }
        let damaged = list.damaged.map { [$0, "damaged", "lets no client in", "", ""] }
        try Terminal.print(list.isEmpty ? "no keys" : Terminal.table(rows + damaged))
    }
}

/// Revokes a key.
struct KeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke a key: it lets no further request in.",
        discussion: """
            EXAMPLES
              godwit key revoke 5d0f51c1cbd3a3b6 --store server.sqlite
            """
    )

    @Argument(help: "The key's id, as `godwit key ls` lists it.") var id: String
    @OptionGroup var argument: KeyStoreArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        try await argument.change { try await $0.revoke(id) }
        if json { return try Terminal.print(json: ["revoked": .string(Key(id))]) }
        try Terminal.print("key \(id) is revoked")
    }
}

extension APIKey {
    fileprivate var encoded: Value.Map {
        var map: Value.Map = [
            "id": .string(Key(id)),
            "name": .string(Key(name)),
            "rights": rights.value,
            "created": .string(Key(created.stamp)),
        ]
        map["lastUsed"] = lastUsed.map { .string(Key($0.stamp)) }
        map["expires"] = expires.map { .string(Key($0.stamp)) }
        return map
    }
}

extension Date {
    /// In the form of ISO 8601, to the second.
    fileprivate var stamp: String { formatted(.iso8601) }
}
