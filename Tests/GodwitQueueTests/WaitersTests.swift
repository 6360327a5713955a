import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// The tasks that wait until operations are gone.
@Suite struct WaitersTests {
    private func numbers(_ count: Int) -> Set<OperationNumber> {
        Set((0..<count).map { OperationNumber(commit: CommitNumber(rawValue: 1), index: $0) })
    }

    @Test func `an operation that is gone costs the same however many others a task waits for`() {
        func end(_ numbers: Set<OperationNumber>) {
            var waiters = Waiters()
            for _ in 0..<2 {
                _ = waiters.add(waiters.announce(), CommitNumber(rawValue: 1), numbers) { _ in }
            }
            for number in numbers { waiters.gone(number) }
            #expect(waiters.isDue)
        }
        let (small, large) = (numbers(4_000), numbers(16_000))
        let cost = CostRatio {
            end(small)
        } large: {
            end(large)
        }
        #expect(cost.isLinear, "\(cost)")
    }

    @Test
    func `each task is woken once, by the last of its operations, its cancellation or the end`() {
        let told = Mutex<[String]>([])
        var waiters = Waiters()
        func wait(_ name: String, for numbers: Set<OperationNumber>) -> Waiters.ID {
            let id = waiters.announce()
            let effects = waiters.add(id, CommitNumber(rawValue: 1), numbers) { result in
                let end =
                    switch result {
                    case .success: "done"
                    case .failure(let error as QueueError): "\(error == .stopped ? "stopped" : "?")"
                    case .failure(let error): error is CancellationError ? "cancelled" : "?"
                    }
                told.withLock { $0.append("\(name) \(end)") }
            }
            #expect(effects.isEmpty)
            return id
        }
        let (one, two) = (numbers(1), numbers(2))
        _ = wait("short", for: one)
        _ = wait("long", for: two)
        let dropped = wait("dropped", for: two)
        for effect in waiters.cancel(dropped) + waiters.cancel(dropped) { effect() }
        for number in one { waiters.gone(number) }
        for effect in waiters.recountDue({ _ in [] }) { effect() }
        #expect(!waiters.isDue && waiters.isWaitedFor)
        for effect in waiters.stop() + waiters.stop() { effect() }
        #expect(told.withLock(\.self) == ["dropped cancelled", "short done", "long stopped"])
        let late = waiters.announce()
        #expect(waiters.cancel(late).isEmpty)
        for effect in waiters.add(
            late,
            .none,
            two,
            { result in
                if case .failure = result { told.withLock { $0.append("late cancelled") } }
            }
        ) { effect() }
        #expect(told.withLock(\.last) == "late cancelled" && !waiters.isWaitedFor)
    }
}
