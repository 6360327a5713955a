internal import GodwitStore

/// A graph of operations that a schedule takes from beginning to end, in memory alone.
///
/// For the benchmarks, which measure the schedule as it is built for apps. It cannot fail, hold or
/// park an operation: what is measured is who goes next.
@_spi(Benchmarks)
public struct ScheduleDrill: Sendable {
    private let items: [Schedule.Item]

    /// - Parameters:
    ///   - needs: For each operation the indices of those that it needs; no circles.
    ///   - priorities: For each operation its priority.
    public init(needs: [[Int]], priorities: [Int32]) {
        precondition(needs.count == priorities.count, "Each operation has a priority")
        precondition(needs.count < OperationNumber.countMax, "They fit in one commit")
        let commit = CommitNumber.none.next
        let numbers = needs.indices.map { OperationNumber(commit: commit, index: $0) }
        items = needs.indices.map { index in
            Schedule.Item(
                number: numbers[index],
                commit: commit,
                priority: priorities[index],
                needs: needs[index].map { numbers[$0] }
            )
        }
    }

    /// Enqueues all operations, keeps as many running as may, and finishes whichever was started
    /// first.
    ///
    /// - Returns: The operations' indices as they were finished; O(n log n).
    public func run(maxConcurrent: Int) -> [Int] {
        var schedule = Schedule()
        schedule.lanes = [Schedule.Lane(isOrdered: false, limit: maxConcurrent)]
        schedule.reserveCapacity(items.count)
        schedule.insert(items)
        var started: [OperationNumber] = []
        started.reserveCapacity(items.count)
        for finishedCount in items.indices {
            while let next = schedule.startNext(in: 0) { started.append(next) }
            precondition(finishedCount < started.count, "Some operations wait for each other")
            schedule.finish(started[finishedCount])
        }
        return started.map { Int($0.rawValue) & (OperationNumber.countMax - 1) }
    }
}
