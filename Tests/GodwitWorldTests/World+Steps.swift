import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitQueue
@testable import GodwitStore

// What happens to the launches, and what their users do.

/// A body that changes its mind.
struct Undo: Error {}

extension World {
    func takeStep() {
        // In some worlds processes are frozen again and again.
        let freezes = seed % 7 == 2 ? 8 : 0
        switch Int.random(in: 0..<(42 + freezes), using: &random) {
        case 0: killOne()
        case 1: cutPower()
        case 2: killInDisk()
        case 3: closeOne()
        case 4: breakDisk()
        case 5, 6: if isShared, alive.count < 3 { open(.whileItRuns) }
        case 7, 8: withLaunch { readAll($0) }
        case 9, 10: withLaunch { openView($0) }
        case 11, 12: withLaunch { flush($0) }
        case 13...16: passTime()
        case 17: withLaunch { cancelSomeWrite($0) }
        case 18...22: withLaunch { doChore($0) }
        case 23: withLaunch { openSecondQueue($0) }
        case 24: longReader == nil ? beginLongRead() : endLongRead()
        case 25, 42...: freezeOrThaw()
        case 26: backUpOrRestore()
        case 27: withLaunch { runAgain($0) }
        default: withLaunch { write($0) }
        }
        if alive.isEmpty { open(.afterKill) }
    }

    private func withLaunch(_ body: (Launch) -> Void) {
        if let launch = alive.randomElement(using: &random) { body(launch) }
    }

    private func killOne() {
        guard let launch = alive.randomElement(using: &random) else { return }
        disk.kill(launch.process)
        buryTheDead()
    }

    private func killInDisk() {
        guard let launch = alive.randomElement(using: &random) else { return }
        let delay = Int.random(in: 1...12, using: &random)
        note("launch \(launch.process) dies in \(delay) operations")
        disk.kill(launch.process, after: delay)
    }

    /// The power goes, at once or within one of the next operations of the disk.
    private func cutPower() {
        note("the power is cut")
        disk.cutPower(at: disk.operationCount + Int.random(in: 1...8, using: &random))
        runJobs(Int.random(in: 0...30, using: &random))
        for launch in alive { bury(launch) }
        endLongRead()
        disk.restart(seed: random.next() % 1_000)
        isDiskBroken = false
        open(.afterPowerCut)
    }

    private func closeOne() {
        guard let launch = alive.randomElement(using: &random) else { return }
        close(launch)
    }

    /// The disk is full, or fails, for a while.
    private func breakDisk() {
        if isDiskBroken { return mend() }
        isDiskBroken = true
        faultCount += 1
        let fault = random.happens(0.6) ? SimulatedDisk.Fault.full : .inputOutput
        note("the disk: \(fault)")
        let number = disk.operationCount + Int.random(in: 1...6, using: &random)
        disk.fail(at: number, with: fault, persistently: random.happens(0.5))
    }

    func mend() {
        note("the disk works again")
        disk.mend()
        if isDiskBroken { faultCount += 1 }
        isDiskBroken = false
        // A store that has seen a failed sync takes no writes before it is opened again.
        for launch in alive where launch.store.isPoisoned { close(launch) }
        if alive.isEmpty { open(.afterKill) }
    }

    /// A pipeline has one queue, also after another one was refused.
    private func openSecondQueue(_ launch: Launch) {
        disk.work(for: launch.process)
        for _ in 0..<2 {
            do {
                _ = try PushQueue(launch.store, pipelines: [Pipeline(App.flat)])
                books.violate(.onePipelineOneQueue, "two queues run one pipeline")
            } catch QueueError.pipelineExists {
                books.kept(.onePipelineOneQueue)
            } catch {
                books.expect(
                    .onePipelineOneQueue,
                    mayFail(launch.process),
                    "a queue cannot open: \(error)"
                )
            }
        }
    }

    private func cancelSomeWrite(_ launch: Launch) {
        guard let task = launch.tasks.dropFirst().randomElement(using: &random) else { return }
        task.cancel()
    }

    /// The app ends the run of its queue, and begins another one.
    private func runAgain(_ launch: Launch) {
        note("launch \(launch.process) runs its queue again")
        thaw(launch)
        disk.work(for: launch.process)
        launch.run?.cancel()
        while scheduler.step(of: launch.process, { _ in }) {}
        expectEnd(ofRunIn: launch)
        if launch.run == nil { launch.runQueue(in: self) }
    }
}

// MARK: - Writing

extension World {
    /// Has a launch change some notes, and push them.
    func write(_ launch: Launch) {
        lastMark += 1
        let mark = lastMark
        let isDurable = random.happens(0.7)
        let throwsUp = random.happens(0.1)
        let isOwn = random.happens(0.5)
        let plan = (0..<Int.random(in: 1...3, using: &random)).map { _ in plannedChange() }
        let flipped = random.happens(0.2) ? App.keys.randomElement(using: &random) : nil
        books.writes[mark] = Books.Write(launch: launch.process)
        let body: @Sendable (borrowing WriteTransaction) throws -> Void = { [self] transaction in
            books.writes[mark]?.commit = transaction.commit
            books.writes[mark]?.changes = [:]
            books.writes[mark]?.pushes = []
            for change in plan { try carryOut(change, mark, by: launch, in: transaction) }
            if let flipped { try flip(flipped, by: launch, in: transaction) }
            try transaction.set(transaction.commit.rawValue, for: "\(mark)", in: App.marks)
            if throwsUp { throw Undo() }
        }
        let faults = faultCount
        start(launch) { [self] launch in
            do {
                try await launch.write(
                    isDurable ? .durable : .relaxed,
                    inOwnTransaction: isOwn,
                    body
                )
                guard launch.isAlive else { return }
                let commit = books.writes[mark]?.commit ?? .none
                note("\(isDurable ? "" : "relaxed ")write \(mark) is commit \(commit)")
                books.writes[mark]?.answer = .committed
                // The disk was full, or failed, and is not any more.
                if faultCount > 1, !isDiskBroken { books.kept(.storeGoesOn) }
                if isDurable { books.synced(through: books.writes[mark]?.commit ?? .none) }
            } catch {
                guard launch.isAlive else { return }
                note("write \(mark) fails: \(error)")
                let isTooOld = launch.isOutdated(in: self) && isOfNewerApp(error)
                let isUndone = error is Undo || error is CancellationError || isTooOld
                books.writes[mark]?.answer = isUndone ? .undone : .failed
                let isExpected = isUndone && (throwsUp || !(error is Undo))
                let mayFail = mayFail(launch.process, since: faults) || launch.store.isPoisoned
                if !isExpected, !mayFail {
                    books.violate(.storeGoesOn, "write \(mark) fails: \(error)")
                }
            }
        }
    }

    struct PlannedChange: Sendable {
        let place: ObjectKey
        let note: Note?
        let push: Push
        let pipeline: String
        let needsLast: Bool
    }

    private func plannedChange() -> PlannedChange {
        lastPush += 1
        let collection = random.happens(0.8) ? App.notes : App.labels
        let key = App.keys.randomElement(using: &random) ?? "n0"
        let number = Int64(lastPush)
        let push = Push(
            name: "p\(lastPush)",
            collection: collection.name.text,
            key: key,
            hasEffect: random.happens(0.6)
        )
        return PlannedChange(
            place: push.place,
            note: random.happens(0.15)
                ? nil : Note(number: number, rank: .random(in: 0...3, using: &random)),
            push: push,
            pipeline: collection.name == App.notes.name || key < "n2" ? App.flat : App.line,
            needsLast: random.happens(0.3)
        )
    }

    private func carryOut(
        _ change: PlannedChange,
        _ mark: Int,
        by launch: Launch,
        in transaction: borrowing WriteTransaction
    ) throws {
        let collection = launch.collection(change.place.collection)
        let key = change.place.key.text
        if let note = change.note {
            try transaction.set(note, for: key, in: collection)
        } else {
            try transaction.remove(key, in: collection)
        }
        books.writes[mark]?.changes[change.place] = .some(
            change.note.map { StoredNote($0, version: collection.version) }
        )
        let needs = change.needsLast ? [books.writes[mark]?.pushes.last?.id].compactMap { $0 } : []
        let id = try transaction.enqueue(
            change.push,
            after: needs,
            Placement(pipeline: change.pipeline)
        )
        let queued = Books.QueuedPush(
            push: change.push,
            id: id,
            pipeline: change.pipeline,
            needs: needs
        )
        books.writes[mark]?.pushes.append(queued)
    }

    /// Changes a note, and makes it what it was.
    private func flip(
        _ key: String,
        by launch: Launch,
        in transaction: borrowing WriteTransaction
    ) throws {
        let collection = launch.collection(App.notes.name)
        let old = try transaction.source.versionedValue(at: collection.place(key))
        try transaction.set(Note(number: 0, rank: 0), for: key, in: collection)
        if let old {
            try transaction.setValue(old.value, version: old.version, of: collection.place(key))
        } else {
            try transaction.remove(key, in: collection)
        }
    }

    func flush(_ launch: Launch) {
        let acknowledged = books.writes.filter { $0.value.answer == .committed }.keys
        start(launch) { [self] launch in
            let faults = launch.flushedFaults
            launch.flushedFaults = faultCount
            do {
                try await launch.store.flush()
                guard launch.isAlive else { return }
                note("\(launch.process) has flushed")
                for mark in acknowledged where books.writes[mark]?.answer == .committed {
                    books.writes[mark]?.isSynced = true
                }
            } catch {
                guard launch.isAlive, !mayFail(launch.process, since: faults),
                    !launch.store.isPoisoned, !(error is CancellationError)
                else { return }
                books.violate(.storeGoesOn, "flush fails: \(error)")
            }
        }
    }
}
