internal import GRDB
internal import GodwitStore

/// Brings the stored pipelines in line with those of this version of the app.
enum PipelineSetup {
    /// Renames, adopts what no other queue runs, and keeps the order that operations were made for.
    ///
    /// - Parameter isKnown: Whether some queue of this process has a pipeline of that name.
    /// - Returns: The operations that wait for others than before; nil if no order has changed.
    static func apply(
        _ pipelines: [Pipeline],
        isKnown: (String) -> Bool,
        in database: Database
    ) throws -> Set<OperationNumber>? {
        let stored = try PipelineTable.pipelines(in: database)
        // Those that got operations which were not made for them.
        var changed: Set<String> = []
        for pipeline in pipelines {
            for name in pipeline.previousNames.sorted() {
                guard let keptOrder = stored[name] else { continue }
                if keptOrder { try OperationTable.keepOrder(in: name, database) }
                try move(name, to: pipeline.name, in: database)
                try database.execute(
                    sql: "UPDATE OR REPLACE godwit_suspension SET pipeline = ? WHERE pipeline = ?",
                    arguments: [pipeline.name, name]
                )
                changed.insert(pipeline.name)
            }
            let keepsOrder = pipeline.order == .commit
            if stored[pipeline.name] == true, !keepsOrder {
                try OperationTable.keepOrder(in: pipeline.name, database)
            }
            if stored[pipeline.name] != keepsOrder {
                try PipelineTable.set(pipeline.name, keepsOrder: keepsOrder, in: database)
                changed.insert(pipeline.name)
            }
        }
        if pipelines.contains(where: { $0.name == Pipeline.defaultName }) {
            let hasAdopted = try adopt(into: Pipeline.defaultName, isKnown: isKnown, in: database)
            if hasAdopted { changed.insert(Pipeline.defaultName) }
        }
        guard !changed.isEmpty else { return nil }
        let ordered = Set(try PipelineTable.pipelines(in: database).filter(\.value).keys)
        var order = CommitOrder(database: database, ordered: ordered)
        try order.restore(in: changed)
        return order.changed
    }

    private static func move(
        _ name: String,
        to other: String,
        in database: Database
    ) throws {
        try OperationTable.move(from: name, to: other, in: database)
        try PipelineTable.remove(name, in: database)
    }

    /// What belongs to a pipeline that is gone moves for good: should the name come back for
    /// something else, nothing jumps there.
    ///
    /// Its suspensions end: they were not made for the operations of the other pipeline.
    ///
    /// - Returns: Whether there was such a pipeline.
    private static func adopt(
        into name: String,
        isKnown: (String) -> Bool,
        in database: Database
    ) throws -> Bool {
        let vanished = try PipelineTable.pipelines(in: database)
            .filter { !isKnown($0.key) && !Pipeline.isReserved($0.key) }
        for (vanished, keptOrder) in vanished {
            if keptOrder { try OperationTable.keepOrder(in: vanished, database) }
            try move(vanished, to: name, in: database)
            try database.execute(
                sql: "DELETE FROM godwit_suspension WHERE pipeline = ?",
                arguments: [vanished]
            )
        }
        return !vanished.isEmpty
    }
}
