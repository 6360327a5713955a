internal import Foundation
internal import GRDB
internal import GodwitQueue
internal import GodwitStore
internal import GodwitTree

/// Brings tags, attachments and operations into a store, all of them in one transaction of SQLite's.
///
/// Each graph is a part of that transaction with a commit of its own, from the oldest to the newest: so
/// the queue keeps them apart, and in their order.
struct CloudPass {
    let source: YapDatabaseImport
    let file: YapDatabaseFile
    let tables: CloudCoreTables
    /// nil to translate and count only.
    let store: Store?
    var report: YapDatabaseImport.Report
    /// The operations of the file so far.
    private var seen: Set<UUID> = []
    /// Where the report has the operations that are left out.
    private var leftOut: [UUID: Int] = [:]

    init(
        source: YapDatabaseImport,
        file: YapDatabaseFile,
        tables: CloudCoreTables,
        store: Store?,
        _ report: YapDatabaseImport.Report
    ) {
        self.source = source
        self.file = file
        self.tables = tables
        self.store = store
        self.report = report
    }

    func run() async throws -> YapDatabaseImport.Report {
        guard let store else {
            var pass = self
            try pass.run(in: nil)
            return pass.report
        }
        try store.prepare(ImportTable.schema)
        return try await store.betweenCommits { database in
            var pass = self
            do {
                try database.inTransaction(.immediate) {
                    try pass.run(in: Target(store: store, database: database))
                    return .commit
                }
            } catch {
                // GRDB goes on to know the queue's tables, which may have been made just now.
                database.clearSchemaCache()
                throw error
            }
            return pass.report
        }
    }

    /// The store, within the transaction.
    struct Target {
        let store: Store
        let database: Database
    }

    private mutating func run(in target: Target?) throws {
        if source.parts.contains(.tags) { try importTags(in: target) }
        if source.parts.contains(.attachments) { try importAttachments(in: target) }
        guard source.parts.contains(.operations) else { return }
        guard source.translate != nil else {
            report.operations.waiting = try file.read { try tables.operationCount(in: $0) }
            return
        }
        try file.read { database in
            try tables.forEachGraph(in: database) { rows in
                try YapDatabaseFile.elsewhere { try importGraph(rows, in: target) }
            }
        }
    }
}

// MARK: - Operations

extension CloudPass {
    /// An operation that is going to be enqueued.
    private struct Translated {
        let outline: YapCloudOperation.Outline
        let work: any PushOperation
        var placement: Placement
    }

    private mutating func importGraph(_ rows: [QueueRow], in target: Target?) throws {
        var operations: [YapCloudOperation] = []
        for row in rows {
            guard let operation = try read(row) else { continue }
            if try isKnown(operation.uuid, in: target) {
                report.operations.known += 1
            } else {
                operations.append(operation)
            }
        }
        let plan = GraphPlan(operations.map { ($0.uuid, $0.outline.dependencies) })
        for edge in plan.dropped {
            report.drop(.init(operation: edge.operation, need: edge.need))
        }
        let graph = Self.ordered(try operations.compactMap { try translate($0, by: plan) })
        for operation in graph { noteLost(operation.outline) }
        report.operations.enqueued += graph.count
        guard let target, !graph.isEmpty else { return }
        try target.store.write(in: target.database) { transaction in
            for operation in graph { try enqueue(operation, in: transaction) }
        }
    }

    /// Returns nil for an operation that is left out; the report says so then.
    private mutating func read(_ row: QueueRow) throws -> YapCloudOperation? {
        do {
            guard let bytes = row.operation, let snapshot = row.snapshot else {
                throw YapDatabaseError.unreadableData(reason: "the row is damaged")
            }
            let outline = try source.readOperation(bytes)
            guard seen.insert(outline.uuid).inserted else {
                throw YapDatabaseError.unreadableData(reason: "another operation has its uuid")
            }
            return YapCloudOperation(
                outline: outline,
                pipeline: row.pipeline,
                snapshot: snapshot,
                row: row.rowid,
                bytes: bytes
            )
        } catch {
            try leaveOut(row.rowid, nil, of: row.pipeline, ObjectPass.reason(error))
            return nil
        }
    }

    private func isKnown(_ uuid: UUID, in target: Target?) throws -> Bool {
        guard let target, let id = OperationID(uuid) else { return false }
        return try ImportTable.isKnown(id, in: target.database)
    }

    /// Returns nil for an operation that is declined or left out; the report says so then.
    private mutating func translate(
        _ operation: YapCloudOperation,
        by plan: GraphPlan<UUID>
    ) throws -> Translated? {
        let needs = operation.outline.dependencies.filter { need in
            !plan.isDropped(need, of: operation.uuid)
        }
        let id = OperationID(operation.uuid)
        var placement = Placement(
            pipeline: operation.pipeline,
            priority: operation.outline.priority,
            dependencies: needs.compactMap { OperationID($0).map { .ifQueued($0) } },
            userInfo: operation.userInfo,
            id: id,
            mayMerge: false
        )
        do {
            guard let work = try source.translate?(operation, &placement) else {
                report.operations.declined += 1
                return nil
            }
            placement.id = id
            // CloudCore may have started it: to undo it in the queue would leave it in the cloud.
            placement.mayMerge = false
            return Translated(outline: operation.outline, work: work, placement: placement)
        } catch {
            let reason = ObjectPass.reason(error)
            try leaveOut(operation.row, operation.uuid, of: operation.pipeline, reason)
            return nil
        }
    }

    private mutating func leaveOut(
        _ row: Int64,
        _ uuid: UUID?,
        of pipeline: String,
        _ reason: String
    ) throws {
        if source.requiresAllOperations {
            throw YapDatabaseError.unreadableOperation(row: row, reason: reason)
        }
        if let uuid { leftOut[uuid] = report.operations.leftOut }
        report.leaveOut(.init(row: row, uuid: uuid, pipeline: pipeline, reason: reason))
    }

    /// Notes that an operation depended on some that are left out.
    private mutating func noteLost(_ outline: YapCloudOperation.Outline) {
        for need in outline.dependencies {
            guard let index = leftOut[need] else { continue }
            report.note(dependent: outline.uuid, ofLeftOut: index)
        }
    }

    /// Needs go backwards: the queue gives those that touch the same thing the order in which they come.
    ///
    /// The app may have changed the needs.
    private static func ordered(_ graph: [Translated]) -> [Translated] {
        let needs = graph.map { operation in
            (
                id: OperationID(operation.outline.uuid),
                needs: operation.placement.dependencies.map { Optional($0.id) }
            )
        }
        return GraphPlan(needs).order.map { graph[$0] }
    }

    private func enqueue(
        _ operation: Translated,
        in transaction: borrowing WriteTransaction
    ) throws {
        do {
            let id = try transaction.enqueue(operation.work, operation.placement)
            try ImportTable.note(id, in: transaction.connection)
        } catch let error as QueueError {
            throw YapDatabaseError.refusedOperation(
                operation.outline.uuid,
                reason: error.description
            )
        }
    }
}

extension OperationID {
    /// The name of an operation that CloudCore has named.
    init?(_ uuid: UUID) {
        let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
        guard let identifier = Identifier(bytes: bytes) else { return nil }
        self.init(identifier)
    }
}
