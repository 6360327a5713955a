import ArgumentParser
import Foundation
import GodwitReplication
import GodwitStore
import GodwitTree

// The objects of replicas: compared, settled, brought in.

/// Compares the objects of two replicas.
struct ReplicaDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what a second replica has otherwise than a first one.",
        discussion: """
            Both stores may be in use. Exit code 2 when the objects differ.

            EXAMPLES
              godwit replica diff server.sqlite app.sqlite --name shopping
              godwit replica diff backup.sqlite server.sqlite --json
            """
    )

    @Argument(help: "A server's store, or a device's.") var first: String
    @Argument(help: "Another one.") var second: String
    @Option(help: "The replica's name, where a store holds several.") var name: String?
    @Flag(help: "Print one object for each object that differs.") var json = false

    func run() async throws {
        let old = try await ReplicaArgument(first, name: name).audit().objects
        let new = try await ReplicaArgument(second, name: name).audit().objects
        let keys = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
        if json {
            let entries = keys.map { Self.encoded($0, old[$0]?.value, new[$0]?.value) }
            try Terminal.print(json: .list(Value.List(entries)))
        } else {
            let lines = keys.map { key in
                switch (old[key]?.value, new[key]?.value) {
                case (let old?, let new?):
                    "~ \(key)\n" + DiffText(.diff(old, new), on: old, style: .standardOutput).text
                case (nil, let new?): "+ \(key)  \(new.jsonText())"
                default: "- \(key)"
                }
            }
            try Terminal.print(lines.isEmpty ? "no differences" : lines.joined(separator: "\n"))
        }
        if !keys.isEmpty { throw ExitCode(2) }
    }

    private static func encoded(_ key: ObjectKey, _ old: Value?, _ new: Value?) -> Value {
        var map: Value.Map = ["collection": .string(key.collection), "key": .string(key.key)]
        map["first"] = old
        map["second"] = new
        return .map(map)
    }
}

/// Resolves a conflict.
struct ReplicaResolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve a conflict on a device: the decision is sent like an edit.",
        discussion: """
            Without --take-other and --put, the value stays that the merge has kept.

            EXAMPLES
              godwit replica conflicts app.sqlite --json
              godwit replica resolve app.sqlite cards a
              godwit replica resolve app.sqlite cards a --id 9f2c… --take-other
              godwit replica resolve app.sqlite cards a --put '"Rye bread"'
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The collection of the object that the conflict is about.")
    var collection: String
    @Argument(help: "The object's key.") var key: String
    @Option(help: "The conflict's id, where the object has several.") var id: String?
    @Flag(help: "Make the change after all that was not taken.") var takeOther = false
    @Option(help: "Put this JSON in the place.") var put: String?
    @Flag(help: "The store is shared with other processes.") var shared = false

    func validate() throws {
        guard !takeOther || put == nil else {
            throw ValidationError("Choose --take-other or --put.")
        }
    }

    func run() async throws {
        let object = ObjectKey(collection: Key(collection), key: Key(key))
        let decision = try decision()
        let store = try argument.writer(isShared: shared, mayCreate: false)
        let id = try await store.write { [id] transaction -> Key in
            let records = try ConflictRecord.all(in: transaction)
            let conflicts = records.first { $0.object == object }?.conflicts.keys.sorted() ?? []
            guard let chosen = id.map({ Key($0) }) ?? conflicts.first else {
                throw ToolError("\(object) has no conflict")
            }
            guard id != nil || conflicts.count == 1 else {
                let ids = conflicts.map(\.text).joined(separator: "\n")
                throw ToolError("\(object) has several conflicts: choose one with --id\n\(ids)")
            }
            try ConflictRecord.resolve(chosen, about: object, decision, in: transaction)
            return chosen
        }
        try store.close()
        try Terminal.print("\(object): conflict \(id.text) is settled")
    }

    private func decision() throws -> ConflictDecision {
        guard let put else { return takeOther ? .takeOther : .keep }
        do {
            return .put(try Value(json: put))
        } catch {
            throw ToolError("the value is no JSON: \(error)")
        }
    }
}

/// Reads a replica whole, and checks it.
struct ReplicaVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read all objects of a replica and check them against its state's id.",
        discussion: "Exit code 2 when something does not fit together."
    )

    @OptionGroup var argument: ReplicaArgument

    func run() async throws {
        let audit = try await argument.audit()
        for problem in audit.problems { Terminal.warn(problem) }
        try Terminal.print("\(audit.objects.count) objects, \(audit.problems.count) problems")
        if !audit.problems.isEmpty { throw ExitCode(2) }
    }
}

/// Prints all objects of a replica.
struct ReplicaExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print all objects of a replica as JSON, by collection and key, for `import`."
    )

    @OptionGroup var argument: ReplicaArgument

    func run() async throws {
        let audit = try await argument.audit()
        try Terminal.print(json: ExportedObjects(audit.objects).encoded)
    }
}

/// Brings exported objects into a replica.
struct ReplicaImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring the objects that `export` has printed into a replica.",
        discussion: """
            On a device they are edits, which are sent. A server's replica is made where
            there is none; the server must not run meanwhile. Objects that are not in the
            file stay, and records of conflicts are left out.

            EXAMPLES
              godwit replica export old.sqlite > shopping.json
              godwit replica import new.sqlite shopping.json --name shopping
            """
    )

    @OptionGroup var argument: ReplicaArgument
    @Argument(help: "What `export` has printed; - for standard input.") var file: InputFile
    @Flag(help: "The store is shared with other processes.") var shared = false

    func run() async throws {
        let objects = try ExportedObjects(file.value())
        let store = try StoreArgument(argument.replica).writer(
            isShared: shared,
            mayCreate: argument.name != nil
        )
        defer { try? store.close() }
        let records = try await ReplicaRecord.all(in: store)
        let matches = records.filter { argument.name == nil || $0.name == argument.name }
        guard matches.count < 2 else {
            throw ToolError("\(argument.replica) holds several replicas: choose with --name")
        }
        let collections = Set(objects.all.map(\.key.collection))
        if let record = matches.first, record.role == .device {
            let name = try ReplicaName(record.name)
            let joined = try await store.read { try Replica.collections(of: name, in: $0) }
            guard collections.isSubset(of: joined) else {
                let strange = collections.subtracting(joined).sorted().map(\.text)
                throw ToolError("not in the replica: \(strange.joined(separator: ", "))")
            }
            try await objects.write(in: store)
        } else {
            guard let name = matches.first?.name ?? argument.name else {
                throw ToolError("name the replica that is to be made: --name")
            }
            guard matches.first != nil || !records.contains(where: { $0.role == .device }) else {
                let names = records.map(\.name).joined(separator: ", ")
                throw ToolError("\(argument.replica) is a device's store, with \(names)")
            }
            try await Self.bring(objects, collections, to: ReplicaName(name), on: store)
        }
        try Terminal.print("\(objects.all.count) objects imported")
    }

    /// Sends the objects as a device does that has all of the replica.
    private static func bring(
        _ objects: ExportedObjects,
        _ collections: Set<Key>,
        to name: ReplicaName,
        on store: Store
    ) async throws {
        let server = try await ReplicaServer(store)
        try await server.create(name)
        let device = try Store(.memory)
        let replica = try await Replica.open(name, in: device, collections: collections)
        func synchronize() async throws {
            var mustAskAgain = true
            while mustAskAgain {
                let request = try await device.write { try replica.nextRequest(in: $0) }
                let answer = try await server.answer(
                    request.bytes,
                    from: request.client,
                    of: name
                )
                mustAskAgain = try await device.write {
                    try replica.receive(answer, to: request, in: $0)
                }
            }
        }
        try await synchronize()
        try await objects.write(in: device)
        try await synchronize()
        let status = try await replica.status()
        _ = try await server.forget(status.client, of: name)
        guard status.rejections.isEmpty else {
            let refused = status.rejections.keys.sorted().map(\.description)
            throw ToolError("the server refuses \(refused.joined(separator: ", "))")
        }
    }
}
