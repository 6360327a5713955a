import GRDB

@testable import GodwitQueue
@testable import GodwitStore

// The end of a world: nothing fails any more, and everything must come to rest.

extension World {
    private static let jobsMax = 20_000

    func heal() {
        note("everything is healed")
        isHealed = true
        endLongRead()
        for launch in alive { thaw(launch) }
        for launch in alive where launch.limits[App.line] == nil || launch.isOutdated(in: self) {
            close(launch)
        }
        mend()
        if alive.isEmpty { open(.afterKill) }
        runJobs(200)
        var righted: Set<Int> = []
        var jobs = 0
        while books.violation == nil, !isQuiet() {
            for launch in alive where launch.store.isPoisoned { close(launch) }
            if alive.isEmpty { open(.afterKill) }
            // Twice: the first time something may still be under way. Nothing else wakes the queue.
            if jobs % 400 == 0, jobs < 800 || !righted.isSuperset(of: alive.map(\.process)),
                let launch = alive.first
            {
                righted.formUnion(alive.map(\.process))
                putRight(launch)
            }
            runJobs(50)
            jobs += 50
            if jobs > Self.jobsMax {
                for launch in alive { note("launch \(launch.process): \(rows(launch))") }
                books.violate(.nothingIsStuck, "the queue does not come to rest")
            }
        }
        note("it has come to rest")
        if books.violation == nil { books.kept(.nothingIsStuck) }
        if books.violation == nil { checkEnd() }
        if books.violation == nil { auditQueues() }
    }

    /// What each queue knows is what is stored.
    private func auditQueues() {
        for launch in alive {
            start(launch) { [self] launch in
                do {
                    let problems = try await launch.queue.audit().problems
                    books.expect(
                        .auditsFindNothing,
                        problems.isEmpty,
                        "launch \(launch.process) is wrong: \(problems)"
                    )
                } catch QueueError.notTheRunner {
                    // It has nothing in memory that could be wrong.
                } catch {
                    books.violate(
                        .auditsFindNothing,
                        "launch \(launch.process) cannot be audited: \(error)"
                    )
                }
                audited.insert(launch.process)
            }
            let isDone = { [self] in audited.contains(launch.process) }
            for _ in 0..<100 where !isDone() && books.violation == nil { runJobs(20) }
            books.expect(
                .auditsFindNothing,
                isDone(),
                "the audit of launch \(launch.process) does not end"
            )
        }
    }

    /// Whether no operation is left.
    private func isQuiet() -> Bool {
        guard let launch = alive.first else { return false }
        let count = try? launch.store.database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM godwit_operation")
        }
        return count == 0 && !books.writes.values.contains { isOpen($0) }
    }

    private func isOpen(_ write: Books.Write) -> Bool {
        write.answer == .open && alive.contains { $0.process == write.launch }
    }

    private func checkEnd() {
        runJobs(200)
        guard let launch = alive.first else { return }
        do {
            let (marks, last, objects, done) = try launch.store.database.read { database in
                (
                    try Disk.marks(in: database), try Disk.lastCommit(in: database),
                    try Disk.objects(in: database), try Disk.done(in: database)
                )
            }
            books.check(marks, through: last, .whileItRuns)
            for mark in marks.keys.sorted() {
                for push in books.writes[mark]?.pushes ?? [] {
                    try checkEnd(of: push, done, launch)
                }
            }
            let places = marks.keys.flatMap { books.writes[$0]?.changes.keys.map { $0 } ?? [] }
            let all = books.writes.values.flatMap(\.pushes)
            let skipped = Set(all.filter { books.skipped.contains($0.id) }.map(\.push.place))
            for place in Set(places).subtracting(skipped).subtracting(books.lostPlaces) {
                books.expect(
                    .newestDataIsPushed,
                    cloud.contents[place] == objects[place]?.newest,
                    "the cloud has another \(place) than the store"
                )
            }
            for launch in alive {
                books.expect(
                    .changesHaveNoGap,
                    books.told[launch.process] ?? last == last,
                    "launch \(launch.process) was never told of commit \(last)"
                )
            }
        } catch {
            books.violate(.storeGoesOn, "the disk cannot be read: \(error)")
        }
    }

    private func checkEnd(
        of queued: Books.QueuedPush,
        _ done: Set<String>,
        _ launch: Launch
    ) throws {
        let fate = try launch.store.database.read { try ResultTable.result(of: queued.id, in: $0) }
        switch fate {
        case .completed:
            books.expect(
                .oneTransaction,
                done.contains(queued.id.description),
                "\(queued.push.name) is completed without its record"
            )
        case .merged: break
        case .skipped where books.skipped.contains(queued.id): break
        case .skipped, nil:
            books.violate(
                .committedIsCommitted,
                "\(queued.push.name) is lost: \(String(describing: fate))"
            )
        }
    }
}
