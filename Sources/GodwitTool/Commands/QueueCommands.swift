import ArgumentParser
import Foundation
import GodwitQueue
import GodwitStore
import GodwitTree

/// Looks into a store's push queue, and changes it.
struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "See what a push queue waits for, draw it, change it.",
        discussion: """
            An operation is named by its number (commit.place, as `list` shows it) or by
            its identifier. Commands that only look (list, why, graph, dead-letters,
            stats) work beside the app; those that write need the store for themselves,
            or, with --shared, beside others that share it too.

            EXAMPLES
              godwit queue list app.sqlite
              godwit queue why app.sqlite 12.1
              godwit queue graph app.sqlite --svg queue.svg
              godwit queue retry app.sqlite 12.1
              godwit queue suspend app.sqlite --pipeline photos
            """,
        subcommands: [
            QueueList.self, QueueWhy.self, QueueGraph.self, QueueDeadLetters.self,
            QueueStats.self, QueueRetry.self, QueueSkip.self, QueueHold.self,
            QueueSuspend.self, QueueResume.self,
        ]
    )
}

extension StoreArgument {
    /// The whole queue, read beside the process that runs it.
    func queue() async throws -> QueueSnapshot {
        let store = try reader()
        let snapshot = try await store.read { try $0.queueSnapshot(at: Date()) }
        try store.close()
        return snapshot
    }
}

/// Lists the operations that are unfinished.
struct QueueList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the unfinished operations in the order of enqueuing.",
        discussion: """
            EXAMPLES
              godwit queue list app.sqlite
              godwit queue list app.sqlite --pipeline photos --limit 20 --json
            """
    )

    @OptionGroup var argument: StoreArgument
    @Option(help: "Only those of this pipeline.") var pipeline: String?
    @Option(help: "No more than that.") var limit: Int?
    @Flag(help: "Print one list of objects.") var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1.") }
    }

    func run() async throws {
        let queue = try await argument.queue()
        let found = queue.operations.filter { pipeline == nil || $0.pipeline == pipeline }
        let shown = found.prefix(limit ?? found.count)
        if json { return try Terminal.print(json: .list(shown.map { queue.described($0) })) }
        guard !shown.isEmpty else { return try Terminal.print("nothing is queued") }
        let rows = shown.map { operation in
            [
                operation.number.description, operation.pipeline, operation.kind,
                queue.status(of: operation.number).text(operation),
            ]
        }
        try Terminal.print(Terminal.table(rows))
        if shown.count < found.count {
            try Terminal.print("  and \(found.count - shown.count) more")
        }
    }
}

/// Says why an operation is where it is.
struct QueueWhy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say why an operation does not run, down to what it waits for in the end.",
        discussion: """
            EXAMPLES
              godwit queue why app.sqlite 12.1
              godwit queue why app.sqlite 0b60b6f7a7a9c1e20000000000c00000 --json
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The operation.") var operation: String
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let store = try argument.reader()
        let name = operation
        let (queue, found, attempts) = try await store.read { transaction in
            let found = try transaction.find(name)
            return (
                try transaction.queueSnapshot(at: Date()), found,
                try transaction.attempts(of: found.id)
            )
        }
        try store.close()
        if json {
            var object = queue.described(found).map ?? [:]
            object["attemptLog"] = .list(attempts.map(\.described))
            return try Terminal.print(json: .map(object))
        }
        try print(found, at: 0, queue)
        for attempt in attempts { try Terminal.print("  \(attempt.line)") }
    }

    private static let depthMax = 8

    private func print(
        _ operation: QueuedOperation,
        at depth: Int,
        _ queue: QueueSnapshot
    ) throws {
        let status = queue.status(of: operation.number)
        let indentation = String(repeating: "  ", count: depth)
        try Terminal.print(
            "\(indentation)\(operation.number) \(operation.kind): \(status.text(operation))"
        )
        guard case .waiting(let reasons) = status else { return }
        for case .dependencies(let needs) in reasons {
            guard depth < Self.depthMax else {
                return try Terminal.print(
                    "\(indentation)  and so on; see: queue why \(needs.first?.description ?? "")"
                )
            }
            for need in queue.operations where needs.contains(need.number) {
                try print(need, at: depth + 1, queue)
            }
        }
    }
}

/// Draws the operations, what they wait for, and their commits.
struct QueueGraph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "graph",
        abstract: "Draw operations, dependencies and commits.",
        discussion: """
            EXAMPLES
              godwit queue graph app.sqlite --svg queue.svg
            """
    )

    @OptionGroup var argument: StoreArgument
    @Option(help: "The file to draw into.") var svg: String
    @Option(help: "Draw only the first so many operations.") var limit = 200
    @Flag(help: "Print one object: what was drawn.") var json = false

    func run() async throws {
        let graph = OperationGraph(try await argument.queue(), limit: limit)
        try Data(graph.svg.utf8).write(to: URL(filePath: svg))
        if json {
            try Terminal.print(json: [
                "operations": .int(Int64(graph.count)), "svg": .string(Key(svg)),
            ])
        } else {
            try Terminal.print("\(graph.count) operations drawn in \(svg)")
        }
    }
}

/// Lists the operations that wait for a decision.
struct QueueDeadLetters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "List dead letters and operations in conflict, with their attempts.",
        discussion: """
            EXAMPLES
              godwit queue dead-letters app.sqlite
              godwit queue dead-letters app.sqlite --json > report.json
            """
    )

    @OptionGroup var argument: StoreArgument
    @Flag(help: "Print one list of objects, bodies and attempts included.") var json = false

    func run() async throws {
        let store = try argument.reader()
        let found = try await store.read { transaction in
            try transaction.operations().filter { $0.state == .conflict || $0.state.isDeadLetter }
                .map { ($0, try transaction.attempts(of: $0.id)) }
        }
        let queue = try await store.read { try $0.queueSnapshot(at: Date()) }
        try store.close()
        if json {
            let list = found.map { operation, attempts -> Value in
                var object = queue.described(operation).map ?? [:]
                object["body"] = operation.body
                object["attemptLog"] = .list(attempts.map(\.described))
                return .map(object)
            }
            return try Terminal.print(json: .list(list))
        }
        guard !found.isEmpty else { return try Terminal.print("no dead letters") }
        for (operation, attempts) in found {
            let reason = operation.reason ?? ""
            let note =
                operation.state == .deadLetter ? "" : " (\(operation.state.rawValue))"
            try Terminal.print("\(operation.number) \(operation.kind)\(note): \(reason)")
            for attempt in attempts { try Terminal.print("  \(attempt.line)") }
        }
    }
}

/// Counts.
struct QueueStats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count the operations by state and by pipeline.",
        discussion: """
            EXAMPLES
              godwit queue stats app.sqlite --json
            """
    )

    @OptionGroup var argument: StoreArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let queue = try await argument.queue()
        let summary = queue.summary
        let counts = [
            ("unfinished", summary.unfinished), ("running", summary.running),
            ("waiting", summary.waiting), ("conflicts", summary.conflicts),
            ("deadLetters", summary.deadLetters),
        ]
        let pipelines = Dictionary(grouping: queue.operations, by: \.pipeline)
            .mapValues { Int64($0.count) }
        if json {
            var object = Value.Map(counts.map { (Key($0.0), .int(Int64($0.1))) })
            object["pipelines"] = .map(Value.Map(pipelines.map { (Key($0), .int($1)) }))
            object["suspended"] = .map(
                Value.Map(
                    queue.suspensions.map { name, reasons in
                        (Key(name), .list(reasons.map { .string(Key($0)) }))
                    }
                )
            )
            return try Terminal.print(json: .map(object))
        }
        try Terminal.print(Terminal.table(counts.map { [$0.0, "\($0.1)"] }))
        for (name, count) in pipelines.sorted(by: { $0.key < $1.key }) {
            try Terminal.print("  pipeline \(name): \(count)")
        }
        for (name, reasons) in queue.suspensions.sorted(by: { $0.key < $1.key }) {
            let what = name.isEmpty ? "all pipelines" : name
            try Terminal.print("  suspended: \(what) (\(reasons.joined(separator: ", ")))")
        }
    }
}
