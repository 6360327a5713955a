import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Logging

@testable import GodwitQueue
@testable import GodwitStore

/// One launch of the app: its store, its queue, and the tasks that use them.
///
/// Unchecked for the same reason as ``World``.
final class Launch: @unchecked Sendable {
    let process: Int
    let store: Store
    /// The app's own connections; nil where the store has opened the file.
    let pool: DatabasePool?
    let queue: PushQueue
    let indexes: [Store.Index]
    /// The version of the app: the older one cannot read what the newer one has written.
    let version: Int
    var isAlive = true
    /// At which idle moment it went on after it was frozen.
    var thawedAt = -1
    /// When it went on, and what it ran as it was frozen.
    var thaw: (time: ManualClock.Instant, running: Set<OperationNumber>)?
    /// How often the disk had broken when the last flush began: the next one may tell of a write since.
    var flushedFaults: Int
    var tasks: [Task<Void, Never>] = []
    /// The task that runs the queue; nil when it has ended.
    private(set) var run: Task<Void, Never>?
    let network = NetworkSwitch()
    /// At which idle moment it lost its network; nil while it has one.
    var offlineSince: Int?
    /// How often a pipeline was suspended here and not resumed, and at which idle moment.
    var suspensions: [String: (count: Int, since: Int)] = [:]
    /// Until when hosts have asked not to be asked, and at which idle moment.
    var pauses: [String: (until: ManualClock.Instant, since: Int)] = [:]
    /// How many operations of each pipeline run at once.
    let limits: [String: Int]

    init(_ process: Int, in world: World) throws {
        self.process = process
        flushedFaults = world.faultCount
        version = world.version()
        let all = [App.byRank, App.byNumber]
        indexes = all.filter { _ in world.random.happens(0.7) }
        let pipelines = world.pipelines(process)
        limits = pipelines.reduce(into: [:]) { $0[$1.name] = $1.maxConcurrent }
        let options = world.storeOptions(process, App.notes(version), indexes)
        pool = world.random.happens(0.2) ? try DatabasePool(path: world.path) : nil
        do {
            store =
                try pool.map { try Store(adopting: $0, options: options) }
                ?? Store(.file(world.path), options: options)
        } catch {
            try? pool?.close()
            throw error
        }
        do {
            queue = try PushQueue(
                store,
                options: world.queueOptions(process, network),
                pipelines: pipelines
            )
        } catch {
            try? store.close()
            try? pool?.close()
            throw error
        }
    }

    /// Whether there is a newer version of the app, so that some objects may be too new for this one.
    func isOutdated(in world: World) -> Bool { world.hasUpgrade && version == 1 }

    /// The collection as this version of the app has it.
    func collection(_ name: Key) -> Store.Collection<Note> {
        name == App.notes.name ? App.notes(version) : Store.Collection(name)
    }

    func close() throws {
        try store.close()
        try pool?.close()
    }

    /// Writes in a transaction of the store's, or in one of the app's own where it has one.
    func write(
        _ durability: Durability,
        inOwnTransaction isOwn: Bool,
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
    ) async throws {
        if isOwn, let pool {
            try join(pool, body)
        } else {
            try await store.write(durability: durability, body)
        }
    }

    private func join(
        _ pool: DatabasePool,
        _ body: (borrowing WriteTransaction) throws -> Void
    ) throws {
        try pool.write { database in try store.write(in: database, body) }
    }

    /// Starts what an app starts: the queue, and an observer of all commits.
    func begin(in world: World) {
        runQueue(in: world)
        let changes = store.changes()
        world.start(self) { launch in
            for await change in changes where launch.isAlive { world.heard(change, launch) }
        }
    }

    /// Runs the queue until ``run`` is cancelled.
    func runQueue(in world: World) {
        run = Task(executorPreference: world.scheduler.executor(of: process)) { [self] in
            defer { run = nil }
            while isAlive {
                let faults = world.faultCount
                do {
                    try await queue.run()
                } catch is CancellationError {
                    return
                } catch {
                    if isAlive, !world.mayFail(process, since: faults), !store.isPoisoned {
                        world.books.violate(.nothingIsStuck, "the queue ended: \(error)")
                    }
                    guard (try? await world.clock.sleep(for: .seconds(1))) != nil else { return }
                }
            }
        }
    }

    func cancelTasks() {
        for task in tasks { task.cancel() }
        run?.cancel()
    }
}

extension World {
    /// Runs a task of a launch.
    func start(_ launch: Launch, _ body: @escaping @Sendable (Launch) async -> Void) {
        let executor = scheduler.executor(of: launch.process)
        launch.tasks.append(Task(executorPreference: executor) { await body(launch) })
    }

    /// The version of the app that is launched next; in the end it is the newest one there was.
    func version() -> Int {
        guard hasUpgrade, isHealed || random.happens(0.4) else { return 1 }
        return 2
    }

    /// What the calendar says.
    var calendar: Date {
        let passed = clock.now.sinceStart / .seconds(1)
        return Date(timeIntervalSince1970: 1_000_000 + calendarShift + passed)
    }

    func storeOptions(
        _ process: Int,
        _ notes: Store.Collection<Note>,
        _ indexes: [Store.Index]
    ) -> Store.Options {
        let clock = clock
        var options = Store.Options()
        options.processes = isShared ? .several : .one
        options.collections = [CollectionRules(notes, indexes: indexes)]
        options.cacheSizeInBytes = random.happens(0.5) ? 0 : 1 << 20
        options.laneScheduler = scheduler.executor(of: process).lanes
        options.identifiers = Identifiers { [self] in
            Identifier(high: random.next(), low: random.next())
        }
        options.clock = StoreClock(
            elapsed: { clock.now.sinceStart },
            now: { [self] in calendar }
        )
        return options
    }

    func queueOptions(_ process: Int, _ network: NetworkSwitch) -> PushQueue.Options {
        let clock = clock
        var options = PushQueue.Options()
        options.monitor = network
        options.clock = clock
        options.taskExecutor = scheduler.executor(of: process)
        options.leaseClock = LeaseClock(boot: "boot") {
            Int64(clock.now.sinceStart / .milliseconds(1))
        }
        options.logger.logLevel = .critical
        // In some worlds hosts are asked slowly: nothing but the next turn wakes the queue then.
        if seed.isMultiple(of: 3) {
            options.rateLimit = { _ in
                RateLimit(perSecondMax: 4, perSecondMin: 1, burstMax: 1, increase: 1)
            }
        }
        return options
    }

    func pipelines(_ process: Int) -> [Pipeline] {
        // Not every version of the app has both pipelines.
        let hasLine = isHealed || random.happens(0.9)
        let orders: [(String, Pipeline.Order)] = [(App.line, .commit), (App.flat, .flat)]
        return orders.filter { hasLine || $0.0 != App.line }.map { name, order in
            var pipeline = Pipeline(name, order: order, maxConcurrent: random.happens(0.3) ? 1 : 4)
            // The app's version counts at once, or when the user has looked.
            pipeline.resolve = { [self] _ in
                switch Int.random(in: 0..<4, using: &random) {
                case 0: throw Puzzled()
                case 1: nil
                default: .retry
                }
            }
            pipeline.backoff = Backoff { [self] in Double.random(in: 0..<1, using: &random) }
            guard random.happens(0.2) else {
                return pipeline.on(Push.self) { [self] push, run in
                    try begin(push, run, in: process)
                    let outcome = try await send(push, run, from: process)
                    noteAnswer(outcome, to: push, in: process)
                    return outcome
                }
            }
            return pipeline.onBatch(of: Push.self, max: 3) { [self] batch in
                defer { for item in batch { end(item.run, in: process) } }
                for item in batch { try begin(item.work, item.run, in: process) }
                var outcomes: [Outcome] = []
                for item in batch {
                    outcomes.append(try await send(item.work, item.run, from: process))
                }
                for (item, outcome) in zip(batch, outcomes) {
                    noteAnswer(outcome, to: item.work, in: process)
                }
                return outcomes
            }
        }
    }

    /// A launch was told of new commits.
    func heard(_ change: ChangeSet, _ launch: Launch) {
        do {
            let marks = try launch.store.database.read { try Disk.marks(in: $0) }
            books.check(change, marks: marks, toldTo: launch.process)
        } catch {
            if !mayFail(launch.process) {
                books.violate(.storeGoesOn, "the marks cannot be read: \(error)")
            }
        }
    }
}

extension Store {
    /// Whether a sync has failed, so that the store must be opened again.
    var isPoisoned: Bool {
        if case .mustReopen = writer.refusal { return true }
        return false
    }
}
