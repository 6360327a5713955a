import ArgumentParser
import Foundation
import GodwitQueue
import GodwitStore
import GodwitTree

/// Which operations a command changes.
struct OperationArguments: ParsableArguments {
    @OptionGroup var argument: StoreArgument
    @Argument(help: "The operations, by number or identifier.") var operations: [String]
    @Flag(help: "The store is shared with other processes.") var shared = false
    @Flag(help: "Print one object: what was changed.") var json = false

    /// Does something to each operation, all in one transaction, and says so.
    func change(
        _ verb: String,
        _ body: @escaping @Sendable (borrowing WriteTransaction, OperationID) throws -> Void
    ) async throws {
        let store = try argument.writer(isShared: shared)
        let names = operations
        do {
            try await store.write { transaction in
                for name in names { try body(transaction, try transaction.find(name).id) }
            }
        } catch let error as QueueError {
            throw ToolError(error.description)
        }
        try store.close()
        if json {
            try Terminal.print(json: [Key(verb): .list(names.map { .string(Key($0)) })])
        } else {
            for name in names { try Terminal.print("\(name) \(verb)") }
        }
    }
}

/// Puts dead letters back in line.
struct QueueRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Put dead letters and conflicts back in line, or end a backoff.",
        discussion: """
            An operation that waits for its next attempt is tried at once.

            EXAMPLES
              godwit queue retry app.sqlite 12.1 14.1
            """
    )

    @OptionGroup var arguments: OperationArguments

    func run() async throws {
        try await arguments.change("queued again") { try $0.retryOperation($1) }
    }
}

/// Takes operations out of the queue.
struct QueueSkip: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "skip",
        abstract: "Take operations out of the queue: they are not needed.",
        discussion: """
            EXAMPLES
              godwit queue skip app.sqlite 12.1 --reason "the contact is gone"
            """
    )

    @OptionGroup var arguments: OperationArguments
    @Option(help: "Why.") var reason = "skipped by hand"

    func run() async throws {
        let reason = reason
        try await arguments.change("skipped") { try $0.skipOperation($1, reason: reason) }
    }
}

/// Keeps operations from starting.
struct QueueHold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Keep operations from starting, or release them.",
        discussion: """
            EXAMPLES
              godwit queue hold app.sqlite 12.1
              godwit queue hold app.sqlite 12.1 --seconds 3600
              godwit queue hold app.sqlite 12.1 --release
            """
    )

    @OptionGroup var arguments: OperationArguments
    @Option(help: "For so long; without it, until they are released.") var seconds: Double?
    @Option(help: "Whose hold it is; each context has its own.") var context = "godwit tool"
    @Flag(help: "Release them.") var release = false

    func validate() throws {
        if release, seconds != nil { throw ValidationError("Either --seconds or --release.") }
    }

    func run() async throws {
        let (context, until) = (context, seconds.map { Date(timeIntervalSinceNow: $0) })
        if release {
            try await arguments.change("released") {
                try $0.releaseOperation($1, context: context)
            }
        } else {
            try await arguments.change("held") {
                try $0.holdOperation($1, until: until, context: context)
            }
        }
    }
}

/// Which pipeline a command suspends or resumes.
struct PipelineArguments: ParsableArguments {
    @OptionGroup var argument: StoreArgument
    @Option(help: "The pipeline; without it, all of them.") var pipeline: String?
    @Option(help: "Why: each reason suspends once.") var reason = "by hand"
    @Flag(help: "The store is shared with other processes.") var shared = false
    @Flag(help: "Print one object.") var json = false

    func change(
        _ verb: String,
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
    ) async throws {
        let store = try argument.writer(isShared: shared)
        try await store.write { try body($0) }
        try store.close()
        if json {
            try Terminal.print(json: [
                Key(verb): .string(Key(pipeline ?? "")), "reason": .string(Key(reason)),
            ])
        } else {
            try Terminal.print("\(pipeline ?? "all pipelines") \(verb)")
        }
    }
}

/// Suspends a pipeline over launches.
struct QueueSuspend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Have a pipeline start nothing until it is resumed, over launches.",
        discussion: """
            EXAMPLES
              godwit queue suspend app.sqlite --pipeline photos --reason "quota"
            """
    )

    @OptionGroup var arguments: PipelineArguments

    func run() async throws {
        let (pipeline, reason) = (arguments.pipeline, arguments.reason)
        try await arguments.change("suspended") {
            try $0.suspendPipeline(pipeline, reason: reason)
        }
    }
}

/// Undoes `suspend`.
struct QueueResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Have a suspended pipeline go on.",
        discussion: """
            EXAMPLES
              godwit queue resume app.sqlite --pipeline photos --reason "quota"
            """
    )

    @OptionGroup var arguments: PipelineArguments

    func run() async throws {
        let (pipeline, reason) = (arguments.pipeline, arguments.reason)
        try await arguments.change("resumed") {
            try $0.resumePipeline(pipeline, reason: reason)
        }
    }
}
