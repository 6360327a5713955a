import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitQueue
@testable import GodwitStore

// The executor of the app's pushes, and the network between it and the cloud.

struct NoConnection: Error {}

extension World {
    /// Begins a push, which may run just once at a time.
    func begin(_ push: Push, _ run: OperationRun, in process: Int) throws {
        let launch = try living(process)
        let id = run.operation.id
        // One that was frozen does not know that another process has taken its place.
        guard !isOvertaken(run.operation, launch) else { return }
        books.expect(
            .oneProcessRuns,
            cloud.active[id] == nil,
            "\(push.name) runs twice at once, also in \(cloud.active[id] ?? process)"
        )
        checkLease(of: run.operation, launch)
        cloud.active[id] = process
        note("\(process) sends \(push.name) (\(run.operation.number))")
        checkStart(of: run.operation, launch)
    }

    /// A process that goes on after its lease starts nothing before it has another one.
    private func checkLease(of operation: QueuedOperation, _ launch: Launch) {
        guard isShared, let thaw = launch.thaw, thaw.time == clock.now,
            !thaw.running.contains(operation.number),
            let runner = try? launch.store.database.read({ try RunnerTable.row(in: $0) }),
            // A process that gives its lease back has stopped by itself.
            runner.until > 0
        else { return }
        books.expect(
            .oneProcessRuns,
            runner.until > Int64(clock.now.sinceStart / .milliseconds(1)),
            "\(operation.number) is started after the lease"
        )
    }

    func end(_ run: OperationRun, in process: Int) {
        let id = run.operation.id
        if cloud.active[id] == process { cloud.active[id] = nil }
    }

    private func living(_ process: Int) throws -> Launch {
        guard let launch = launches.first(where: { $0.process == process }), launch.isAlive else {
            throw CancellationError()
        }
        return launch
    }

    private func isOvertaken(_ operation: QueuedOperation, _ launch: Launch) -> Bool {
        guard isShared else { return false }
        let runner = try? launch.store.database.read { try RunnerTable.row(in: $0) }
        return runner.map { $0.epoch != operation.epoch } ?? false
    }

    /// Does one push, as an app would: reads the newest content, sends it, records that it is done.
    func send(_ push: Push, _ run: OperationRun, from process: Int) async throws -> Outcome {
        let launch = try living(process)
        let id = run.operation.id
        defer { end(run, in: process) }
        let place = push.place
        let collection = launch.collection(place.collection)
        let note = try await launch.store.read { transaction in
            try transaction.get(push.key, in: collection)
                .flatMap { StoredNote($0, version: collection.version).newest }
        }
        try await travel()
        guard launch.isAlive else { throw CancellationError() }
        let reply = reply()
        self.note(
            "\(place): \(note.map { "\($0.number)" } ?? "nothing") for \(run.operation.number), \(reply)"
        )
        switch reply {
        case .refusedConnection: throw NoConnection()
        case .busy: return .retry(reason: "busy")
        case .refused:
            books.refused.insert(id)
            return .refused(reason: "the cloud does not take it")
        case .conflict:
            // Others of its commit, and later ones, go on while it waits for a decision.
            books.refused.insert(id)
            let value = cloud.contents[place].map { $0.value }
            return .conflict(theirs: value ?? .null, reason: "newer")
        case .askedToSlowDown:
            return .retry(after: .seconds(2), slowDown: true, reason: "too many requests")
        case .loggedOut: return .suspendPipeline(reason: Self.logout)
        case .lost:
            cloud.put(note, at: place, key: run.operation.idempotencyKey)
            throw NoConnection()
        case .done: cloud.put(note, at: place, key: run.operation.idempotencyKey)
        }
        try await travel()
        return .completed { [self] transaction in
            let key = id.description
            let isNew = try !transaction.exists(key, in: App.done)
            books.expect(.nothingHappensTwice, isNew, "\(key) is done twice")
            try transaction.set(transaction.commit.rawValue, for: key, in: App.done)
        }
    }

    /// The queue knows of an answer from here on: of all those of a batch at once.
    func noteAnswer(_ outcome: Outcome, to push: Push, in process: Int) {
        guard case .retry(let delay?, true, _) = outcome, let host = push.host else { return }
        let launch = launches.first { $0.process == process }
        launch?.pauses[host] = (clock.now.advanced(by: delay), idleCount)
    }

    private func travel() async throws {
        try await clock.sleep(for: .milliseconds(Int.random(in: 1...400, using: &random)))
    }

    private func reply() -> Reply {
        if isHealed || random.happens(0.7) { return .done }
        return Reply.allCases.randomElement(using: &random) ?? .done
    }

    /// Asks, without the queue, whether a push may start now.
    private func checkStart(of operation: QueuedOperation, _ launch: Launch) {
        let database = launch.store.database
        guard let done = try? database.read({ try Disk.done(in: $0) }) else { return }
        let number = operation.number
        books.expect(
            .nothingHappensTwice,
            !done.contains(operation.id.description),
            "\(number) is sent although it is done"
        )
        let known = books.writes.values.filter { $0.answer == .committed }
        let queued = known.flatMap(\.pushes)
        guard let own = queued.first(where: { $0.id == operation.id }) else { return }
        for need in own.needs {
            books.expect(
                .dependenciesGoFirst,
                isGone(need, launch),
                "\(number) is sent before \(need), which it needs"
            )
        }
        checkConditions(of: own, number, launch)
        guard own.pipeline == App.line, !books.refused.contains(own.id) else { return }
        for write in known where write.commit < operation.commit {
            for earlier in write.pushes
            where earlier.pipeline == App.line && !books.refused.contains(earlier.id) {
                let isInOrder = isThrough(earlier.id, launch)
                if !isInOrder { note(rows(launch)) }
                books.expect(
                    .commitsGoInOrder,
                    isInOrder,
                    "\(number) is sent before \(earlier.push.name)"
                )
            }
        }
    }

    /// The rows of the operations, to see why.
    func rows(_ launch: Launch) -> String {
        let rows = try? launch.store.database.read {
            try Row.fetchAll(
                $0,
                sql: """
                    SELECT number, id, commit_number, pipeline, state, keeps_order, attempts, epoch, reason
                    FROM godwit_operation ORDER BY number
                    """
            )
        }
        return (rows ?? []).map { "\n    \($0)" }.joined()
    }

    /// Holds the app's wishes of some time ago against what starts now.
    private func checkConditions(
        of own: Books.QueuedPush,
        _ number: OperationNumber,
        _ launch: Launch
    ) {
        let isOld = { [idleCount] (since: Int) in max(since, launch.thawedAt) < idleCount }
        // A promise is put to the test while something is kept back, this operation or another one.
        if alive.contains(where: { $0.offlineSince != nil }) {
            books.expect(
                .conditionsAreAwaited,
                launch.offlineSince.map(isOld) != true,
                "\(number) is sent although there is no network"
            )
        }
        if !books.suspended.isEmpty {
            books.expect(
                .suspensionsOutliveLaunches,
                books.suspended[own.pipeline].map(isOld) != true,
                "\(number) is sent although \(own.pipeline) is suspended"
            )
        }
        if launch.suspensions.values.contains(where: { $0.count > 0 }) {
            let suspension = launch.suspensions[own.pipeline] ?? (count: 0, since: idleCount)
            books.expect(
                .suspensionsOfALaunch,
                suspension.count == 0 || !isOld(suspension.since),
                "\(number) is sent although its pipeline is suspended here"
            )
        }
        checkHolds(of: own.id, number, launch, isOld)
        if let host = own.push.host, let pause = launch.pauses[host] {
            books.expect(
                .pausesAreKept,
                pause.until <= clock.now || !isOld(pause.since),
                "\(number) is sent although \(host) has asked for a pause"
            )
        }
        let active = cloud.active.filter { id, process in
            process == launch.process && !books.skipped.contains(id)
                && books.pipeline(of: id) == own.pipeline
        }
        books.expect(
            .concurrencyHasALimit,
            active.count <= launch.limits[own.pipeline] ?? .max,
            "\(active.count) operations of \(own.pipeline) run at once"
        )
    }

    private func checkHolds(
        of id: OperationID,
        _ number: OperationNumber,
        _ launch: Launch,
        _ isOld: (Int) -> Bool
    ) {
        guard books.holds.values.contains(where: { !$0.isEmpty }) else { return }
        let holds = books.holds[id] ?? [:]
        books.expect(
            .holdsKeep,
            !holds.values.contains(where: isOld),
            "\(number) is sent although it is held by \(holds.keys.sorted())"
        )
        guard !holds.isEmpty, let chore = books.choreCommits[id] else { return }
        books.expect(
            .holdsKeep,
            !isChanged(number, since: chore, launch),
            "\(number) is started although it is held by \(holds.keys.sorted())"
        )
    }

    /// Whether an operation has left the queue, as the disk says.
    private func isGone(_ id: OperationID, _ launch: Launch) -> Bool {
        (try? launch.store.database.read { try !Disk.operations(in: $0).contains(id) }) ?? true
    }

    /// Whether the queue itself has changed an operation since a user did, where processes share it.
    private func isChanged(
        _ number: OperationNumber,
        since commit: CommitNumber,
        _ launch: Launch
    ) -> Bool {
        let isChanged = try? launch.store.database.read {
            try QueueLog.hasLater(than: commit, number, in: $0)
        }
        return isChanged ?? false
    }

    /// Whether an operation has left the line, as the disk says.
    private func isThrough(_ id: OperationID, _ launch: Launch) -> Bool {
        (try? launch.store.database.read { try Disk.isThrough(id, in: $0) }) ?? true
    }
}
