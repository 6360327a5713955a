import Foundation
import GRDB
@testable import GodwitStore
import GodwitTestKit
import Synchronization

@testable import GodwitQueue

// What the app's users do to the queue: hold, skip, hurry, suspend, retry.

extension World {
    /// How long the world waits before it believes that a change must have been heeded.
    static let patience = Duration.seconds(5)
    /// The contexts of the app's holds, and the reasons of its suspensions.
    private static let (hold, pause) = ("login", "wifi")

    func doChore(_ launch: Launch) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: changeOne(launch) { [self] in try hold($0, in: $1) }
        case 2: changeOne(launch) { try $1.releaseOperation($0, context: Self.hold) }
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
        transact(launch) { transaction in
            let ids = try Disk.operations(in: transaction.database)
            guard !ids.isEmpty else { return }
            try change(ids[choice % ids.count], transaction)
        }
    }

    /// Runs a transaction that may fail only where the disk does.
    private func transact(
        _ launch: Launch,
        then done: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
    ) {
        let faults = faultCount
        start(launch) { [self] launch in
            do {
                try await launch.store.write(.durable, body)
                if launch.isAlive { done() }
            } catch {
                guard launch.isAlive, !mayFail(launch.process, since: faults),
                    !launch.store.isPoisoned, !(error is CancellationError)
                else { return }
                books.violate("a chore fails: \(error)")
            }
        }
    }

    private func hold(_ id: OperationID, in transaction: borrowing WriteTransaction) throws {
        let seconds = random.happens(0.5) ? nil : Double.random(in: 0...20, using: &random)
        let date = seconds.map { calendar.addingTimeInterval($0) }
        try transaction.holdOperation(id, until: date, context: Self.hold)
    }

    private func skip(_ id: OperationID, in transaction: borrowing WriteTransaction) throws {
        books.skipped.insert(id)
        try transaction.skipOperation(id)
    }

    private func suspend(_ launch: Launch, _ pipeline: String) {
        let resumes = books.resumeCount
        transact(launch, then: { [self] in
            guard resumes == books.resumeCount else { return }
            note("\(pipeline) is suspended")
            books.suspended[pipeline] = clock.now
        }) {
            try $0.suspendPipeline(pipeline, reason: Self.pause)
        }
    }

    private func resume(_ launch: Launch) {
        books.suspended = [:]
        books.resumeCount += 1
        note("\(launch.process) resumes all")
        transact(launch) { transaction in
            for pipeline in [App.line, App.flat] {
                try transaction.resumePipeline(pipeline, reason: Self.pause)
            }
        }
    }

    private func switchNetwork(_ launch: Launch) {
        let isOnline = random.happens(0.5)
        note("launch \(launch.process) is \(isOnline ? "on" : "off")line")
        launch.offlineSince = isOnline ? nil : clock.now
        launch.network.set(Conditions(isOnline: isOnline))
    }

    /// Puts everything right that users have to put right themselves.
    func putRight(_ launch: Launch) {
        for launch in alive {
            launch.offlineSince = nil
            launch.network.set(Conditions())
        }
        resume(launch)
        transact(launch) { transaction in
            for id in try Disk.operations(in: transaction.database) {
                try transaction.releaseOperation(id, context: Self.hold)
                if try transaction.operation(id)?.state.isDeadLetter == true {
                    try transaction.retryOperation(id)
                }
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
