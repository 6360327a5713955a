internal import GodwitStore

/// The tables of the queue; `sqlite3` shows each waiting operation, and why it waits.
enum QueueSchema {
    static let schema = TableSchema(name: "queue", steps: [.sql(tables.joined(separator: "\n"))])

    private static let tables = [
        OperationTable.schema, DependencyTable.schema, HoldTable.schema, ObjectRecordTable.schema,
        EffectTable.schema, AttemptTable.schema, ConflictTable.schema, ResultTable.schema,
        PipelineTable.schema, SuspensionTable.schema, RunnerTable.schema, QueueLog.schema,
        TagTable.schema, AttachmentTable.schema,
    ]
}
