import ArgumentParser
import Foundation
import GodwitStore
import GodwitTree

/// Prints what is committed to a store, as it happens.
struct StoreWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print each change of a store, until interrupted.",
        discussion: """
            Looks at the store ten times a second, beside the process that writes. A store
            that is not shared does not keep its changes: what is printed then is the
            difference between two looks, so that an object that changed twice between
            them is shown once.

            EXAMPLES
              godwit store watch app.sqlite
              godwit store watch app.sqlite --collection contacts --json
              godwit store watch app.sqlite --commits 1
            """
    )

    @OptionGroup var argument: StoreArgument
    @Option(help: "Only this collection.") var collection: String?
    @Option(help: "End after so many changes were seen.") var commits: Int?
    @Flag(help: "Print one object on each line.") var json = false

    func run() async throws {
        let store = try argument.reader()
        var seen = try await look(at: store)
        var left = commits ?? .max
        let clock = ContinuousClock()
        Terminal.warn("watching \(argument.store) from commit \(seen.commit)")
        while left > 0 {
            try await clock.sleep(for: .milliseconds(100))
            let next = try await look(at: store, after: seen)
            if next.commit > seen.commit {
                try show(seen, next)
                left -= 1
            }
            seen = next
        }
        try store.close()
    }

    /// The commit that last changed each object.
    private struct Look: Sendable {
        var commit: CommitNumber
        var objects: [ObjectKey: CommitNumber] = [:]
    }

    private func look(at store: Store, after last: Look? = nil) async throws -> Look {
        let wanted = collection.map { Key($0) }
        return try await store.read { transaction in
            if let last, transaction.lastCommit == last.commit { return last }
            var look = Look(commit: transaction.lastCommit)
            for name in try transaction.collections() where wanted == nil || wanted == name {
                let typed = Store.Collection<Value>(name)
                for key in try transaction.keys(in: typed) {
                    look.objects[typed.place(key)] = try transaction.commit(of: key, in: typed)
                }
            }
            return look
        }
    }

    private func show(_ old: Look, _ new: Look) throws {
        let inserted = new.objects.keys.filter { old.objects[$0] == nil }
        let removed = old.objects.keys.filter { new.objects[$0] == nil }
        let updated = new.objects.keys.filter { key in
            old.objects[key] != nil && old.objects[key] != new.objects[key]
        }
        let groups = [("+", inserted), ("=", updated), ("-", removed)]
        guard json else {
            for (sign, keys) in groups {
                for key in keys.sorted() { try Terminal.print("\(new.commit) \(sign) \(key)") }
            }
            return
        }
        let names = ["inserted", "updated", "removed"]
        var map: Value.Map = ["commit": .int(new.commit.rawValue)]
        for (name, group) in zip(names, groups) {
            map[Key(name)] = .list(group.1.sorted().map { .string(Key($0.description)) })
        }
        try Terminal.print(Value.map(map).jsonText())
    }
}

/// Prints how large a store is, and what of it.
struct StoreStats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Print how large a store is, and what is in it.",
        discussion: """
            EXAMPLES
              godwit store stats app.sqlite --json
            """
    )

    @OptionGroup var argument: StoreArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let store = try argument.reader()
        let statistics = try await store.statistics()
        try store.close()
        let wal = try? FileManager.default.attributesOfItem(atPath: argument.store + "-wal")
        let walSize = wal?[.size] as? Int ?? 0
        let count = statistics.objectCounts.values.reduce(0, +)
        if json {
            let counts = statistics.objectCounts.map { ($0, Value.int(Int64($1))) }
            return try Terminal.print(json: [
                "commit": .int(statistics.commit.rawValue), "objects": .int(Int64(count)),
                "collections": .map(Value.Map(counts)),
                "databaseBytes": .int(Int64(statistics.databaseSize)),
                "walBytes": .int(Int64(walSize)),
            ])
        }
        let rows = [
            ["last commit", "\(statistics.commit)"], ["objects", "\(count)"],
            ["collections", "\(statistics.objectCounts.count)"],
            ["database", "\(statistics.databaseSize) bytes"], ["WAL", "\(walSize) bytes"],
        ]
        try Terminal.print(Terminal.table(rows))
    }
}

/// Reads all of a store, and says what is damaged.
struct StoreCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read all of a store and compare it with what was written; 2 when damaged.",
        discussion: """
            EXAMPLES
              godwit store check app.sqlite && echo sound
            """
    )

    @OptionGroup var argument: StoreArgument
    @Flag(help: "Print one object: the number of objects, and the problems.") var json = false

    func run() async throws {
        let store = try argument.reader()
        let report = try await store.integrityCheck { count in
            var bar = ProgressBar("checking")
            bar.show(count, fraction: nil)
        }
        ProgressBar("checking").finish()
        try store.close()
        if json {
            try Terminal.print(json: [
                "objects": .int(Int64(report.objectCount)),
                "problems": .list(report.problems.map { .string(Key($0)) }),
            ])
        } else {
            for problem in report.problems { try Terminal.print(problem) }
            try Terminal.print("\(report.objectCount) objects, \(report.problems.count) problems")
        }
        if !report.isSound { throw ExitCode(2) }
    }
}

/// Copies a store while it is in use.
struct StoreBackup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a store, as it is at one commit, while it is in use.",
        discussion: """
            EXAMPLES
              godwit store backup app.sqlite copy.sqlite
            """
    )

    @OptionGroup var argument: StoreArgument
    @Argument(help: "The new file.") var copy: String
    @Flag(help: "Print one object: the size of the copy.") var json = false

    func run() async throws {
        let store = try argument.reader()
        do {
            try await store.backup(to: copy)
        } catch let error as StoreError {
            throw ToolError(error.description)
        }
        try store.close()
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        let size = attributes[.size] as? Int ?? 0
        if json {
            try Terminal.print(json: ["bytes": .int(Int64(size))])
        } else {
            try Terminal.print("\(copy): \(size) bytes")
        }
    }
}

/// Gives the space of removed objects back.
struct StoreCompact: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Give the space of what was removed back to the file system.",
        discussion: """
            EXAMPLES
              godwit store compact app.sqlite
            """
    )

    @OptionGroup var argument: StoreArgument
    @Flag(help: "The store is shared with other processes.") var shared = false
    @Flag(help: "Print one object: the sizes before and after.") var json = false

    func run() async throws {
        let store = try argument.writer(isShared: shared)
        let before = try await store.statistics().databaseSize
        try await store.vacuum()
        let after = try await store.statistics().databaseSize
        try store.close()
        if json {
            try Terminal.print(json: ["before": .int(Int64(before)), "after": .int(Int64(after))])
        } else {
            try Terminal.print("\(before) bytes before, \(after) after")
        }
    }
}
