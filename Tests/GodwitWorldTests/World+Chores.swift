import Foundation
import GRDB
import GodwitTestKit
import Synchronization

@testable import GodwitQueue
@testable import GodwitStore

// What the app's users do to the queue: hold, skip, hurry, suspend, retry.

extension World {
    /// The contexts of the app's holds.
    private static let contexts = ["login", "merge"]
    /// The reason of its suspensions, and that of the cloud's.
    private static let pause = "wifi"
    static let logout = "logged out"

    func doChore(_ launch: Launch) {
        let context = Self.contexts.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1: changeOne(launch) { [self] in try hold($0, context, in: $1) }
        case 2:
            changeOne(launch) { [self] id, transaction in
                books.forgetHold(of: id, context)
                try transaction.releaseOperation(id, context: context)
            }
        case 7: suspendHere(launch)
        case 8: resumeHere(launch)
        case 9: calendarShift += Double.random(in: -4_000...4_000, using: &random)
        case 3: changeOne(launch) { [self] in try skip($0, in: $1) }
        case 4:
            let priority = Int32.random(in: -1...1, using: &random)
            changeOne(launch) { id, transaction in
                _ = try transaction.modifyOperation(id) { $0.priority = priority }
            }
        case 5: suspend(launch, [App.line, App.flat].randomElement(using: &random) ?? App.flat)
        case 6: resume(launch)
        default: switchNetwork(launch)
        }
    }

    /// Changes an operation of the queue, if there is one, in a transaction.
    private func changeOne(
        _ launch: Launch,
        _ change: @escaping @Sendable (OperationID, borrowing WriteTransaction) throws -> Void
    ) {
        let choice = Int.random(in: 0..<100, using: &random)
        transact(launch) { [self] transaction in
            let ids = try Disk.operations(in: transaction.database)
            guard !ids.isEmpty else { return }
            let id = ids[choice % ids.count]
            books.choreCommits[id] = transaction.commit
            try change(id, transaction)
        }
    }

    /// Runs a transaction that may fail only where the disk does.
    private func transact(
        _ launch: Launch,
        then done: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
    ) {
        let faults = faultCount
        lastChore += 1
        let chore = lastChore
        start(launch) { [self] launch in
            do {
                try await launch.store.write(durability: .durable) { [self] transaction in
                    books.tentative = []
                    try body(transaction)
                    books.pending[chore] = books.tentative
                }
                guard launch.isAlive else { return }
                for (id, context) in books.pending.removeValue(forKey: chore) ?? [] {
                    note("\(id) is held by \(context)")
                    books.holds[id, default: [:]][context] = idleCount
                }
                done()
            } catch {
                books.pending[chore] = nil
                guard launch.isAlive, !mayFail(launch.process, since: faults),
                    !launch.store.isPoisoned, !(error is CancellationError)
                else { return }
                books.violate(.storeGoesOn, "a chore fails: \(error)")
            }
        }
    }

    /// Holds an operation; for ever, as far as the books know, only if that is committed.
    private func hold(
        _ id: OperationID,
        _ context: String,
        in transaction: borrowing WriteTransaction
    ) throws {
        let seconds = random.happens(0.5) ? nil : Double.random(in: 0...20, using: &random)
        let date = seconds.map { calendar.addingTimeInterval($0) }
        try transaction.holdOperation(id, until: date, context: context)
        let isWaiting = try transaction.operation(id)?.state == .waiting
        books.forgetHold(of: id, context)
        if date == nil, isWaiting { books.tentative.append((id, context)) }
    }

    private func skip(_ id: OperationID, in transaction: borrowing WriteTransaction) throws {
        books.skipped.insert(id)
        try transaction.skipOperation(id)
    }

    private func suspend(_ launch: Launch, _ pipeline: String) {
        let resumes = books.resumeCount
        transact(
            launch,
            then: { [self] in
                guard resumes == books.resumeCount else { return }
                note("\(pipeline) is suspended")
                books.suspended[pipeline] = idleCount
            }
        ) {
            try $0.suspendPipeline(pipeline, reason: Self.pause)
        }
    }

    private func resume(_ launch: Launch) {
        books.suspended = [:]
        books.resumeCount += 1
        note("\(launch.process) resumes all")
        transact(launch) { [self] transaction in
            // A launch that was frozen comes to this much later.
            books.suspended = [:]
            books.resumeCount += 1
            for pipeline in [App.line, App.flat] {
                try transaction.resumePipeline(pipeline, reason: Self.pause)
                try transaction.resumePipeline(pipeline, reason: Self.logout)
            }
        }
    }

    private func switchNetwork(_ launch: Launch) {
        let isOnline = random.happens(0.5)
        note("launch \(launch.process) is \(isOnline ? "on" : "off")line")
        launch.offlineSince = isOnline ? nil : idleCount
        launch.network.set(Conditions(isOnline: isOnline))
    }

    /// Suspends a pipeline in this launch alone, once more or twice.
    private func suspendHere(_ launch: Launch) {
        let pipeline = launch.limits.keys.sorted().randomElement(using: &random) ?? App.flat
        for _ in 0..<(random.happens(0.5) ? 2 : 1) {
            launch.queue.suspend("here", pipeline: pipeline)
            let count = launch.suspensions[pipeline]?.count ?? 0
            launch.suspensions[pipeline] = (count + 1, idleCount)
        }
    }

    private func resumeHere(_ launch: Launch) {
        for (pipeline, suspension) in launch.suspensions where suspension.count > 0 {
            launch.queue.resume("here", pipeline: pipeline)
            launch.suspensions[pipeline]?.count -= 1
        }
    }

    /// Puts everything right that users have to put right themselves.
    func putRight(_ launch: Launch) {
        for launch in alive {
            launch.offlineSince = nil
            while launch.suspensions.values.contains(where: { $0.count > 0 }) { resumeHere(launch) }
            launch.network.set(Conditions())
        }
        resume(launch)
        books.holds = [:]
        transact(launch) { transaction in
            for id in try Disk.operations(in: transaction.database) {
                for context in Self.contexts {
                    try transaction.releaseOperation(id, context: context)
                }
                let state = try transaction.operation(id)?.state
                if state?.isDeadLetter == true { try transaction.retryOperation(id) }
                if state == .conflict { try transaction.resolveConflict(of: id, .retry) }
            }
        }
    }
}

/// A device's network, as the app's processes see it.
final class NetworkSwitch: ConditionsMonitor {
    private struct State {
        var current = Conditions()
        var listeners: [AsyncStream<Conditions>.Continuation] = []
    }

    private let state = Mutex(State())

    func set(_ conditions: Conditions) {
        let listeners = state.withLock { state in
            state.current = conditions
            return state.listeners
        }
        for listener in listeners { listener.yield(conditions) }
    }

    func conditions() -> AsyncStream<Conditions> {
        let (stream, continuation) = AsyncStream.makeStream(of: Conditions.self)
        state.withLock { state in
            continuation.yield(state.current)
            state.listeners.append(continuation)
        }
        return stream
    }
}
