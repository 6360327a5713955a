internal import GodwitStore

extension QueueState {
    /// Where an unfinished operation stands; never without a reason.
    mutating func status(of number: OperationNumber, at now: Moment) -> OperationStatus {
        guard let position = machine.schedule.position(of: number) else { return .unknown }
        switch position.state {
        case .running: return .running(progress: attempts.progress[number])
        case .parked: return .deadLetter
        case .free: return .unknown
        case .waiting: break
        }
        if stopped[number] == .conflict { return .conflict }
        let reasons = machine.reasons(for: number, position, at: now)
        return .waiting(reasons.isEmpty ? [.none] : reasons)
    }

    var summary: QueueSummary {
        var summary = QueueSummary()
        summary.unfinished = machine.schedule.count
        summary.running = machine.schedule.lanes.reduce(0) { $0 + $1.runningCount }
        summary.deadLetters = stopped.count - stopped.conflictCount
        summary.conflicts = stopped.conflictCount
        summary.waiting = summary.unfinished - summary.running - stopped.count
        let progress = attempts.progress
        if !progress.isEmpty {
            summary.progress = progress.values.reduce(0, +) / Double(progress.count)
        }
        summary.isRunning = isRunning
        return summary
    }
}

/// Which pipelines are suspended in the store, and when they were last resumed here.
struct Suspensions {
    var stored: Set<StoredSuspension> = []
    private var resumptions: [String: Duration] = [:]

    mutating func note(resumed pipeline: String, at moment: Duration) {
        resumptions[pipeline] = moment
    }

    /// Whether a pipeline was resumed after a moment, by itself or with all of them.
    func wasResumed(_ pipeline: String, since moment: Duration) -> Bool {
        [pipeline, PipelineTable.all].contains { name in
            resumptions[name].map { $0 >= moment } ?? false
        }
    }
}

/// The operations that wait for the app's decision, and how many of them are in conflict.
struct Stopped {
    private var states: [OperationNumber: QueuedOperation.State] = [:]
    private(set) var conflictCount = 0

    var count: Int { states.count }

    subscript(number: OperationNumber) -> QueuedOperation.State? {
        get { states[number] }
        set {
            if states[number] == .conflict { conflictCount -= 1 }
            if newValue == .conflict { conflictCount += 1 }
            states[number] = newValue
        }
    }
}

extension QueueMachine {
    /// Why a waiting operation does not run.
    mutating func reasons(
        for number: OperationNumber,
        _ position: Schedule.Position,
        at now: Moment
    ) -> Set<WaitReason> {
        var reasons: Set<WaitReason> = []
        let rules = lanes[position.lane]
        for reason in suspensions.keys { reasons.insert(.suspended(reason: reason)) }
        for reason in rules.suspensions.keys { reasons.insert(.suspended(reason: reason)) }
        let missing = rules.requirements.missing(in: conditions)
        if !missing.isEmpty { reasons.insert(.lacks(missing)) }
        if !position.needs.isEmpty { reasons.insert(.dependencies(position.needs)) }
        if position.isClosed { reasons.insert(.commitOrder(position.commit)) }
        for (context, deadline) in holds[number] ?? [:] {
            reasons.insert(.held(context: context, until: deadline.date(at: now)))
        }
        guard position.isReady, reasons.isEmpty else { return reasons }
        let lane = schedule.lanes[position.lane]
        if lane.runningCount >= lane.limit { return [.concurrency(limit: lane.limit)] }
        return mayStart(position.host, at: now) ? [] : [.rate(host: hostName(position.host))]
    }
}
