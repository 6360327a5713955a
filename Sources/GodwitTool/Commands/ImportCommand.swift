import ArgumentParser
import Foundation
import GodwitStore
import GodwitTree
import GodwitYapDatabase

/// Brings the data of other databases into a store.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Bring the data of another database into a store.",
        discussion: """
            EXAMPLES
              godwit import yapdatabase old.sqlite --into app.sqlite
            """,
        subcommands: [ImportYapDatabase.self]
    )
}

/// Brings a file of YapDatabase into a store.
struct ImportYapDatabase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "yapdatabase",
        abstract: "Bring a file of YapDatabase into a store; 2 when something is left out.",
        discussion: """
            Objects with their metadata, and CloudCore's tags and attachments. The file is
            opened for reading only. What the store has already stays, unless --replace is
            given: the import can be run again.

            --decode says what the app has stored:
              archive  NSKeyedArchiver, YapDatabase's default. Objects of the app's
                       classes become maps of what they have encoded, with the name of
                       the class under "$class".
              plist    property lists; Swift's Codable objects are stored so, too.
              json     JSON text.
              bytes    anything else: each object is its bytes.

            CloudCore's operations stay in the file. They are objects of the app's own
            classes, and only the app can make its operations of them, by the Swift type
            YapDatabaseImport; the command tells how many wait.

            EXAMPLES
              godwit import yapdatabase old.sqlite --dry-run
              godwit import yapdatabase old.sqlite --into app.sqlite
              godwit import yapdatabase old.sqlite --into app.sqlite --decode json \\
                --collection contacts --collection notes
            """
    )

    enum Decoding: String, CaseIterable, ExpressibleByArgument {
        case json, plist, archive, bytes

        var decoder: YapObjectDecoder {
            switch self {
            case .json: .json
            case .plist: .propertyList
            case .archive: .keyedArchive
            case .bytes: .bytes
            }
        }
    }

    @Argument(help: "The file of YapDatabase.") var file: String
    @Option(help: "The store; it is made if there is none.") var into: String?
    @Option(help: "How the objects are stored: json, plist, archive or bytes.")
    var decode = Decoding.archive
    @Option(help: "Only this collection; may be given several times.")
    var collection: [String] = []
    @Option(help: "The name of the CloudCore extension, if there are several.")
    var cloudCore: String?
    @Flag(help: "Import only the objects, and nothing of CloudCore's.") var objectsOnly = false
    @Flag(help: "Replace objects and tags that the store has already.") var replace = false
    @Flag(help: "The store is shared with other processes.") var shared = false
    @Flag(help: "Read and decode everything, and write nothing.") var dryRun = false
    @Flag(help: "Print one object: the counts, and all that is left out.") var json = false

    func validate() throws {
        guard dryRun || into != nil else {
            throw ValidationError("Name the store with --into, or try it with --dry-run.")
        }
    }

    func run() async throws {
        let report: YapDatabaseImport.Report
        do {
            report = try await imported()
        } catch let error as YapDatabaseError {
            throw ToolError(error.description)
        } catch let error as StoreError {
            throw ToolError(error.description)
        }
        try json ? Terminal.print(json: report.encoded) : show(report)
        if report.leavesOut { throw ExitCode(2) }
    }

    private func imported() async throws -> YapDatabaseImport.Report {
        var source = YapDatabaseImport(file)
        source.decoder = decode.decoder
        source.metadataDecoder = decode.decoder
        source.collections = collection.isEmpty ? nil : Set(collection)
        source.cloudCore = cloudCore
        if objectsOnly { source.parts = [.objects] }
        source.replacesExisting = replace
        try source.check()
        guard !dryRun, let into else { return try await source.survey() }
        let store = try store(at: into)
        defer { try? store.close() }
        return try await source.run(into: store)
    }

    /// Refuses a file that is no store: to open it would put a store's tables into it.
    private func store(at path: String) throws -> Store {
        let argument = StoreArgument(path)
        if FileManager.default.fileExists(atPath: path) {
            do {
                try Store(.file(path), options: .readOnly).close()
            } catch StoreError.unusable {
                throw ToolError("\(path) is no store of this version: name a new file with --into")
            }
        }
        return try argument.writer(isShared: shared, mayCreate: true)
    }

    private static let listedMax = YapDatabaseImport.Report.detailsMax

    private func show(_ report: YapDatabaseImport.Report) throws {
        let shown = 20
        for object in report.leftOutObjects.prefix(shown) {
            let part = object.isMetadata ? "the metadata of " : ""
            Terminal.warn("left out: \(part)\(object.collection)/\(object.key): \(object.reason)")
        }
        let total = report.objectTotal
        let rest = total.leftOut + total.withoutMetadata - min(shown, report.leftOutObjects.count)
        if rest > 0 { Terminal.warn("and \(rest) more; --json lists up to \(Self.listedMax)") }
        if total.imported + total.kept == 0, total.leftOut > 0 {
            Terminal.warn("does --decode say how the app has stored its objects?")
        }
        let verb = dryRun ? "readable" : "imported"
        if !report.objects.isEmpty {
            let rows = report.objects.sorted { $0.key < $1.key }.map { name, count in
                [
                    name.isEmpty ? "(no collection)" : name, "\(count.imported)", verb,
                    "\(count.kept)", "there already", "\(count.leftOut)", "left out",
                ]
            }
            try Terminal.print(Terminal.table(rows))
        }
        try Terminal.print("\(total.imported) objects \(verb)")
        for (name, count) in [("tags", report.tags), ("attachments", report.attachments)]
        where count.imported + count.kept + count.leftOut > 0 {
            let kept = "\(count.kept) there already, \(count.leftOut) left out"
            try Terminal.print("\(count.imported) \(name) \(verb), \(kept)")
        }
        guard report.operations.waiting > 0 else { return }
        try Terminal.print(
            """
            \(report.operations.waiting) operations wait in CloudCore's queue, and stay there: \
            have the app import them with YapDatabaseImport
            """
        )
    }
}

extension YapDatabaseImport.Report {
    /// Whether something of what the tool imports is not in the store.
    fileprivate var leavesOut: Bool {
        let total = objectTotal
        return total.leftOut + total.withoutMetadata + tags.leftOut + attachments.leftOut > 0
    }

    fileprivate var encoded: Value {
        let collections = objects.map { name, count in
            let counts: Value = [
                "imported": .int(Int64(count.imported)), "kept": .int(Int64(count.kept)),
                "leftOut": .int(Int64(count.leftOut)),
                "withoutMetadata": .int(Int64(count.withoutMetadata)),
            ]
            return (Key(name), counts)
        }
        let leftOut = leftOutObjects.map { object -> Value in
            [
                "collection": .string(Key(object.collection)), "key": .string(Key(object.key)),
                "isMetadata": .bool(object.isMetadata), "reason": .string(Key(object.reason)),
            ]
        }
        return [
            "collections": .map(Value.Map(collections)), "leftOut": .list(leftOut),
            "tags": tags.encoded, "attachments": attachments.encoded,
            "operations": ["waiting": .int(Int64(operations.waiting))],
        ]
    }
}

extension YapDatabaseImport.Report.CloudCount {
    fileprivate var encoded: Value {
        [
            "imported": .int(Int64(imported)), "kept": .int(Int64(kept)),
            "leftOut": .int(Int64(leftOut)),
        ]
    }
}
