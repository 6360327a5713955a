import ArgumentParser
import Foundation
import GodwitStore
import GodwitTree

/// Looks into a store, and changes it.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look into a store, change it, check it, copy it.",
        discussion: """
            Commands that only look (ls, get, watch, stats, check, backup) work beside a
            process that has the store open. Those that write (set, rm, compact) need the
            store for themselves, or, with --shared, share it with processes that share it
            too.

            EXAMPLES
              godwit store ls app.sqlite
              godwit store get app.sqlite contacts robbie
              godwit store set app.sqlite contacts robbie '{"name": "Robbie"}'
              godwit store watch app.sqlite --collection contacts --json
              godwit store check app.sqlite
            """,
        subcommands: [
            StoreList.self, StoreGet.self, StoreSet.self, StoreRemove.self, StoreWatch.self,
            StoreStats.self, StoreCheck.self, StoreBackup.self, StoreCompact.self,
        ]
    )
}

/// Which store a command works on.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's file.") var store: String

    init() {}

    init(_ store: String) { self.store = store }

    /// The store, read beside a process that writes to it.
    func reader() throws -> Store { try opened(.readOnly) }

    /// The store, to be written to.
    func writer(isShared: Bool, mayCreate: Bool = false) throws -> Store {
        guard mayCreate || FileManager.default.fileExists(atPath: store) else {
            throw ToolError(StoreError.noStore(path: store).description)
        }
        var options = Store.Options()
        if isShared { options.processes = .several }
        return try opened(options)
    }

    private func opened(_ options: Store.Options) throws -> Store {
        guard !store.isEmpty else { throw ToolError("the name of the store is empty") }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: store, isDirectory: &isFolder), isFolder.boolValue
        {
            throw ToolError("\(store) is a folder")
        }
        do {
            return try Store(.file(store), options: options)
        } catch let error as StoreError {
            throw ToolError(error.description)
        }
    }
}

/// Lists collections, or the keys of one.
struct StoreList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the collections of a store, or the keys of a collection.",
        discussion: """
            EXAMPLES
              godwit store ls app.sqlite
              godwit store ls app.sqlite contacts --prefix r --limit 20
              godwit store ls app.sqlite contacts --json --values
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The collection; without one, the collections are listed.")
    var collection: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(help: "No more keys than that.") var limit: Int?
    @Flag(help: "From the last key to the first.") var reverse = false
    @Flag(help: "The objects too.") var values = false
    @Flag(help: "Print one object.") var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
    }

    func run() async throws {
        let store = try argument.reader()
        if let collection {
            try await listKeys(of: Store.Collection<Value>(Key(collection)), in: store)
        } else {
            try await listCollections(in: store)
        }
        try store.close()
    }

    private func listCollections(in store: Store) async throws {
        let counts = try await store.statistics().objectCounts
        if json {
            return try Terminal.print(json: .map(Value.Map(counts.map { ($0, .int(Int64($1))) })))
        }
        guard !counts.isEmpty else { return try Terminal.print("no objects") }
        let names = counts.keys.sorted { $0.text < $1.text }
        try Terminal.print(Terminal.table(names.map { [$0.text, "\(counts[$0] ?? 0)"] }))
    }

    private func listKeys(of collection: Store.Collection<Value>, in store: Store) async throws {
        let (limit, prefix) = (limit, prefix)
        let order: GodwitStore.SortDirection = reverse ? .descending : .ascending
        guard values else {
            let keys = try await store.read {
                try $0.keys(
                    in: collection,
                    range: .prefix(prefix),
                    order: order,
                    limit: limit
                )
            }
            if json { return try Terminal.print(json: .list(keys.map { .string(Key($0)) })) }
            return try keys.forEach { try Terminal.print($0) }
        }
        let objects = try await store.read { transaction in
            var objects: [(String, Value)] = []
            try transaction.enumerate(
                collection,
                range: .prefix(prefix),
                order: order,
                limit: limit
            ) { key, value, _ in objects.append((key, value.taggingBytes)) }
            return objects
        }
        if json { return try Terminal.print(json: .map(Value.Map(objects.map { (Key($0), $1) }))) }
        for (key, value) in objects { try Terminal.print("\(key)\t\(value.jsonText())") }
    }
}

/// Prints one object.
struct StoreGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print one object; exit code 1 when there is none.",
        discussion: """
            Bytes are written as {"$bytes": "…"} in Base64; `store set` reads them back.

            EXAMPLES
              godwit store get app.sqlite contacts robbie
              godwit store get app.sqlite contacts robbie | \\
                godwit store set new.sqlite contacts r -
              godwit store get app.sqlite contacts robbie --json | \\
                godwit store set new.sqlite contacts robbie - --whole --create
              godwit store get app.sqlite contacts robbie --metadata
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The collection.") var collection: String
    @Argument(help: "The key.") var key: String
    @Flag(help: "Print the metadata instead.") var metadata = false
    @Flag(help: "Print one object: value, metadata and commit.") var json = false

    func run() async throws {
        let store = try argument.reader()
        let place = ObjectKey(collection: Key(collection), key: Key(key))
        let typed = Store.Collection<Value>(place.collection)
        let found = try await store.read { transaction in
            (
                try transaction.value(of: place), try transaction.metadataValue(of: place),
                try transaction.commit(of: place.key.text, in: typed)
            )
        }
        try store.close()
        guard let value = found.0 else { throw ToolError("there is no object \(place)") }
        guard json else {
            let printed = metadata ? found.1 ?? .null : value
            return try Terminal.print(printed.taggingBytes.jsonText(indentation: 2))
        }
        var map: Value.Map = ["value": value.taggingBytes, "commit": .int(found.2?.rawValue ?? 0)]
        map["metadata"] = found.1?.taggingBytes
        try Terminal.print(json: .map(map))
    }
}

/// Puts an object into a store.
struct StoreSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Put an object, given as JSON, under a key.",
        discussion: """
            EXAMPLES
              godwit store set app.sqlite contacts robbie '{"name": "Robbie"}'
              godwit store set app.sqlite contacts robbie - < robbie.json
              godwit store set new.sqlite lists shopping '[]' --create
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The collection.") var collection: String
    @Argument(help: "The key.") var key: String
    @Argument(help: "The object as JSON; - for standard input.") var value: String
    @Flag(help: "The input is what `store get --json` prints: value and metadata.")
    var whole = false
    @Flag(help: "Make the store if there is none.") var create = false
    @Flag(help: "The store is shared with other processes.") var shared = false
    @Flag(help: "Print one object: the commit.") var json = false

    func run() async throws {
        let (object, metadata) = try parts(of: parsed())
        let store = try argument.writer(isShared: shared, mayCreate: create)
        let place = ObjectKey(collection: Key(collection), key: Key(key))
        let result = try await store.writeLater { transaction in
            try transaction.setValue(object, of: place)
            guard whole else { return }
            let plain = Store.Collection<Value>(place.collection)
            try transaction.replaceMetadata(metadata, of: place.key.text, in: plain)
        }.finish()
        try store.close()
        let commit = result.commit.map { "commit \($0)" } ?? "no change"
        if json {
            try Terminal.print(json: ["commit": result.commit.map { .int($0.rawValue) } ?? .null])
        } else {
            try Terminal.print("\(place): \(commit)")
        }
    }

    private func parts(of input: Value) throws -> (object: Value, metadata: Value?) {
        guard whole else { return (input.untaggingBytes, nil) }
        guard let map = input.map, let object = map["value"] else {
            throw ToolError("--whole wants {\"value\": …}, as `store get --json` prints it")
        }
        return (object.untaggingBytes, map["metadata"]?.untaggingBytes)
    }

    private func parsed() throws -> Value {
        if value == "-" { return try InputFile(argument: "-").value() }
        do {
            return try Value(json: value)
        } catch {
            throw ToolError("the object is no JSON: \(error)")
        }
    }
}

/// Removes objects from a store.
struct StoreRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove objects by their keys, or a whole collection.",
        discussion: """
            EXAMPLES
              godwit store rm app.sqlite contacts robbie ann
              godwit store rm app.sqlite contacts --all
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The collection.") var collection: String
    @Argument(help: "The keys.") var keys: [String] = []
    @Flag(help: "Remove all objects of the collection.") var all = false
    @Flag(help: "The store is shared with other processes.") var shared = false
    @Flag(help: "Print one object: how many were removed.") var json = false

    func validate() throws {
        guard all == keys.isEmpty else { throw ValidationError("Give keys, or --all.") }
    }

    func run() async throws {
        let store = try argument.writer(isShared: shared)
        let (typed, keys, all) = (Store.Collection<Value>(Key(collection)), keys, all)
        let count = try await store.write { transaction in
            let before = try transaction.count(in: typed)
            if all {
                try transaction.removeAll(in: typed)
            } else {
                try transaction.remove(keys, in: typed)
            }
            return before - (try transaction.count(in: typed))
        }
        try store.close()
        if json {
            try Terminal.print(json: ["removed": .int(Int64(count))])
        } else {
            try Terminal.print("\(count) removed")
        }
    }
}
