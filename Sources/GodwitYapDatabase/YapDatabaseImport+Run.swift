internal import GRDB
public import GodwitStore

extension YapDatabaseImport {
    /// Imports the file.
    ///
    /// ```swift
    /// let report = try await source.run(into: store)
    /// for object in report.leftOutObjects { print(object.collection, object.key, object.reason) }
    /// ```
    ///
    /// Objects come in batches, each in a transaction of its own. Then tags, attachments and all
    /// operations come in one transaction, in which each graph of CloudCore's is a commit: a pipeline that
    /// keeps the order of commits keeps the order of the graphs. If the process ends in between, run it
    /// again. Hooks see the imported objects as any other change; `AutomaticOperations` enqueue nothing
    /// for them. At most 500 objects, or about a megabyte of them, and one graph are in memory at a time.
    ///
    /// - Throws: ``YapDatabaseError``, or what the store or its queue throws. Batches that were imported
    ///   before stay; of tags, attachments and operations nothing is there then.
    @concurrent
    public func run(into store: Store) async throws -> Report { try await pass(into: store) }

    /// Imports the file unless an import of this name was finished before.
    ///
    /// ```swift
    /// if try await source.runOnce("first database", into: store) == nil { print("nothing to do") }
    /// ```
    ///
    /// For a call at each launch. The store remembers the name when the import has ended without an error,
    /// also if the report names things that were left out: choose another name to run it again with a better
    /// decoder.
    ///
    /// - Returns: The report; nil if it was finished before, and nothing was done.
    @concurrent
    public func runOnce(_ name: String, into store: Store) async throws -> Report? {
        if try await store.read({ try ImportTable.isDone(name, in: $0.connection) }) { return nil }
        let report = try await pass(into: store)
        try store.prepare(ImportTable.schema)
        try await store.write { transaction in
            try ImportTable.setDone(name, in: transaction.connection)
            try transaction.noteChange()
            transaction.touch()
        }
        return report
    }

    /// Throws unless the file can be read, without reading what it holds.
    ///
    /// - Throws: ``YapDatabaseError``, with what to do about it.
    public func check() throws {
        let file = try YapDatabaseFile(path, prepare: prepareConnection)
        defer { file.close() }
        if needsCloudCore { _ = try Self.tables(of: file, named: cloudCore) }
    }

    /// Reads and decodes the whole file, and changes nothing.
    ///
    /// The report counts as imported what an import into an empty store would bring.
    ///
    /// - Throws: ``YapDatabaseError``.
    @concurrent
    public func survey() async throws -> Report { try await pass(into: nil) }

    /// - Parameter store: nil to read only.
    private func pass(into store: Store?) async throws -> Report {
        let file = try YapDatabaseFile(path, prepare: prepareConnection)
        defer { file.close() }
        let tables = needsCloudCore ? try Self.tables(of: file, named: cloudCore) : nil
        var report = Report()
        if parts.contains(.objects) {
            var objects = ObjectPass(source: self, file: file, store: store)
            try await objects.run()
            report = objects.report
        }
        guard let tables else { return report }
        let cloud = CloudPass(source: self, file: file, tables: tables, store: store, report)
        return try await cloud.run()
    }

    private var needsCloudCore: Bool { !parts.subtracting([.objects]).isEmpty }

    private static func tables(
        of file: YapDatabaseFile,
        named name: String?
    ) throws -> CloudCoreTables? {
        try file.read { try CloudCoreTables.find(name, in: $0) }
    }
}
