import Foundation
import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitQueue
@testable import GodwitStore

/// Launches of an app on one simulated disk, with one cloud, driven by one seed.
///
/// Everything that ships runs: the store with its writer, cache, views, indexes and change sets,
/// the queue with its tables, journal, attempts and lease. Only the disk, the clock, the threads
/// and the cloud are simulated. After each step the books tell whether a promise was broken.
///
/// Unchecked, because all of it runs on the thread that steps the scheduler, or on a thread of
/// GRDB's that this one waits for.
final class World: @unchecked Sendable {
    let seed: UInt64
    var random: Seeded
    let disk: SimulatedDisk
    let clock = ManualClock()
    let scheduler: SimulatedScheduler
    let isShared: Bool
    /// Whether the app has a second version in this world.
    let hasUpgrade: Bool
    var books = Books()
    var cloud = Cloud()
    var launches: [Launch] = []
    var lastMark = 0
    var lastProcess = 0
    var lastPush = 0
    var lastChore = 0
    /// Whether reads and writes may fail just now.
    var isDiskBroken = false
    /// How often the disk has broken.
    var faultCount = 0
    /// Whether nothing fails any more.
    var isHealed = false
    /// How often all launches had nothing to do but to wait: what was under way before has begun.
    var idleCount = 0
    /// A connection of no launch that reads for long; it keeps the log from being emptied.
    var longReader: DatabaseQueue?
    /// The launches that the system has stopped for a while.
    var frozen: Set<Int> = []
    /// The disk at an earlier moment, and the writes that were acknowledged then.
    var backup: (disk: SimulatedDisk.Backup, marks: Set<Int>, synced: Set<Int>)?
    /// The launches whose queues were compared with the disk at the end.
    var audited: Set<Int> = []
    /// How far the calendar is from where it began, besides the time that has passed.
    var calendarShift = 0.0
    /// The events of this world, for the search of a bug.
    var trace: [String] = []
    private let folder: TemporaryFolder

    init(seed: UInt64) throws {
        self.seed = seed
        random = Seeded(seed: seed)
        isShared = random.happens(0.4)
        hasUpgrade = random.happens(0.4)
        folder = try TemporaryFolder()
        disk = SimulatedDisk(folder: folder)
        scheduler = SimulatedScheduler(seed: random.next())
    }

    var path: String { folder.path("store.sqlite") }
    var alive: [Launch] { launches.filter(\.isAlive) }

    /// - Returns: The first promise that was broken; nil when all were kept.
    func run() -> String? {
        defer { end() }
        open(.afterKill)
        for _ in 0..<Int.random(in: 8...32, using: &random) where books.violation == nil {
            takeStep()
            runJobs(Int.random(in: 0...25, using: &random))
        }
        if books.violation == nil { heal() }
        return books.violation
    }

    func note(_ text: @autoclosure () -> String) {
        trace.append("\(clock.now.sinceStart): \(text())")
    }

    /// Runs some jobs of the launches; when there are none, time passes.
    func runJobs(_ count: Int) {
        for _ in 0..<count where books.violation == nil {
            if scheduler.step(disk.work(for:)) {
                buryTheDead()
            } else {
                idleCount += 1
                passTime()
            }
        }
    }

    /// Lets the next sleeper wake up.
    func passTime() {
        guard let deadline = clock.nextDeadline else { return clock.advance(by: .seconds(1)) }
        clock.advance(by: max(clock.now.duration(to: deadline), .zero))
    }
}

// MARK: - Launches

extension World {
    /// Starts the app once more.
    func open(_ look: Books.Look) {
        endLongRead()
        lastProcess += 1
        let process = lastProcess
        disk.work(for: process)
        do {
            let launch = try Launch(process, in: self)
            launches.append(launch)
            note("launch \(process) is open\(isShared ? ", shared" : "")")
            if alive.count == 1 || look != .whileItRuns { self.look(through: launch, look) }
            launch.begin(in: self)
        } catch {
            note("launch \(process) cannot open: \(error)")
            if !mayFail(process) {
                books.violate(.storeGoesOn, "launch \(process) cannot open: \(error)")
            }
        }
    }

    /// Whether a launch may get an error that is not of its own making.
    ///
    /// - Parameter faults: How often the disk had broken when the launch began what has failed.
    func mayFail(_ process: Int, since faults: Int? = nil) -> Bool {
        isDiskBroken || disk.isOff || disk.isDead(process) || faults ?? faultCount != faultCount
    }

    /// Reads the marks past the store's cache, and holds the objects against them.
    func look(through launch: Launch, _ look: Books.Look) {
        do {
            let (marks, last, objects) = try launch.store.database.read { database in
                (
                    try Disk.marks(in: database), try Disk.lastCommit(in: database),
                    try Disk.objects(in: database)
                )
            }
            let living = Set(alive.map(\.process))
            books.check(marks, through: last, look, living: living)
            books.expect(
                .allOrNothing,
                books.objects(after: marks, through: last) == objects,
                "the objects are not what the marked writes have made of them"
            )
        } catch {
            if !mayFail(launch.process) {
                books.violate(.storeGoesOn, "the disk cannot be read: \(error)")
            }
        }
    }

    /// Takes launches away that were killed in the middle of a call to the disk.
    func buryTheDead() {
        for launch in alive where disk.isDead(launch.process) || disk.isOff { bury(launch) }
    }

    /// Ends a launch whose disk is gone: what it still does is seen nowhere.
    func bury(_ launch: Launch) {
        note("launch \(launch.process) is dead")
        launch.isAlive = false
        thaw(launch)
        cloud.active = cloud.active.filter { $0.value != launch.process }
        disk.kill(launch.process)
        disk.work(for: launch.process)
        launch.cancelTasks()
        while scheduler.step(of: launch.process, { _ in }) {}
        try? launch.close()
        while scheduler.step(of: launch.process, { _ in }) {}
        if !disk.isOff, let survivor = alive.first { look(through: survivor, .afterKill) }
    }

    /// Closes a launch in good order.
    func close(_ launch: Launch) {
        note("launch \(launch.process) closes")
        thaw(launch)
        disk.work(for: launch.process)
        launch.cancelTasks()
        while scheduler.step(of: launch.process, { _ in }) {}
        expectEnd(ofRunIn: launch)
        do { try launch.close() } catch {
            if !mayFail(launch.process) { books.violate(.storeGoesOn, "cannot close: \(error)") }
        }
        while scheduler.step(of: launch.process, { _ in }) {}
        launch.isAlive = false
        cloud.active = cloud.active.filter { $0.value != launch.process }
    }

    func expectEnd(ofRunIn launch: Launch) {
        let name = "the run of launch \(launch.process)"
        books.expect(.runsEnd, launch.run == nil, "\(name) is cancelled, and goes on")
    }

    /// Begins a transaction that reads, and leaves it open.
    func beginLongRead() {
        guard longReader == nil, !alive.isEmpty else { return }
        disk.work(for: 0)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        longReader = try? DatabaseQueue(path: path, configuration: configuration)
        let sql = "BEGIN; SELECT COUNT(*) FROM godwit_object"
        let isBegun: Void? = try? longReader?.inDatabase { try $0.execute(sql: sql) }
        if isBegun == nil { endLongRead() }
    }

    func endLongRead() {
        disk.work(for: 0)
        _ = try? longReader?.inDatabase { try $0.execute(sql: "COMMIT") }
        try? longReader?.close()
        longReader = nil
    }

    private func end() {
        endLongRead()
        for launch in alive { bury(launch) }
        // Their stores' options hold the world.
        launches = []
        folder.remove()
    }
}
