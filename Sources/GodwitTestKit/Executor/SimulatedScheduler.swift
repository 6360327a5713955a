package import GodwitStore
internal import Synchronization

/// Runs the tasks of simulated processes, one job at a time, in an order that a seed decides.
///
/// ```swift
/// let scheduler = SimulatedScheduler(seed: 7)
/// Task(executorPreference: scheduler.executor(of: 1)) { await serve() }
/// while scheduler.step() {}
/// ```
///
/// A job is what a task does between two awaits, or one piece of a store's work on a connection.
/// Everything runs on the thread that calls `step()`, so that a seed gives the same run again as
/// long as no task waits for something outside of the simulation.
public final class SimulatedScheduler: Sendable {
    fileprivate enum Job {
        case task(UnownedJob)
        case work(@Sendable () -> Void)
    }

    /// Jobs that run in the order in which they came.
    fileprivate struct Line {
        let process: Int
        let executor: SimulatedExecutor
        var jobs: [Job]
        var isWriter = false
    }

    fileprivate struct State {
        var random: Seeded
        var lines: [Line] = []
        var executors: [Int: SimulatedExecutor] = [:]
        var frozen: Set<Int> = []
    }

    private let state: Mutex<State>

    public init(seed: UInt64) { state = Mutex(State(random: Seeded(seed: seed))) }

    /// Where the tasks of a process run.
    public func executor(of process: Int) -> SimulatedExecutor {
        state.withLock { state in
            let known = state.executors[process]
            let executor = known ?? SimulatedExecutor(process: process, scheduler: self)
            state.executors[process] = executor
            return executor
        }
    }

    /// Stops a process, as a system does to an app in the background.
    public func freeze(_ process: Int) {
        state.withLock { _ = $0.frozen.insert(process) }
    }

    /// Lets a process that was frozen go on.
    public func thaw(_ process: Int) {
        state.withLock { _ = $0.frozen.remove(process) }
    }

    /// Runs one job of any process that is not frozen.
    ///
    /// - Parameter prepare: Called before the job runs, with its process.
    /// - Returns: Whether there was one.
    @discardableResult
    public func step(_ prepare: (_ process: Int) -> Void = { _ in }) -> Bool {
        step(of: nil, prepare)
    }

    /// Runs one job of one process, frozen or not.
    @discardableResult
    public func step(of process: Int?, _ prepare: (_ process: Int) -> Void = { _ in }) -> Bool {
        let next = state.withLock { $0.takeAny(of: process) }
        guard let (job, line) = next else { return false }
        prepare(line.process)
        switch job {
        case .task(let task):
            task.runSynchronously(on: line.executor.asUnownedTaskExecutor())
        case .work(let body): body()
        }
        return true
    }

    fileprivate func add(_ task: UnownedJob, to executor: SimulatedExecutor) {
        state.withLock { state in
            let line = Line(process: executor.process, executor: executor, jobs: [.task(task)])
            state.lines.append(line)
        }
    }

    fileprivate func add(
        _ work: @escaping @Sendable () -> Void,
        in lane: DatabaseLane,
        of executor: SimulatedExecutor
    ) {
        state.withLock { state in
            let isWriter = lane == .writer
            let index = state.lines.firstIndex { $0.isWriter && $0.executor === executor }
            if isWriter, let index { return state.lines[index].jobs.append(.work(work)) }
            let line = Line(
                process: executor.process,
                executor: executor,
                jobs: [.work(work)],
                isWriter: isWriter
            )
            state.lines.append(line)
        }
    }
}

extension SimulatedScheduler.State {
    /// The first job of a line that chance has chosen.
    fileprivate mutating func takeAny(
        of process: Int?
    ) -> (SimulatedScheduler.Job, SimulatedScheduler.Line)? {
        let candidates = lines.indices.filter { index in
            let owner = lines[index].process
            return process.map { $0 == owner } ?? !frozen.contains(owner)
        }
        guard let index = candidates.randomElement(using: &random) else { return nil }
        let line = lines[index]
        lines[index].jobs.removeFirst()
        if lines[index].jobs.isEmpty { lines.remove(at: index) }
        return (line.jobs[0], line)
    }
}

/// Where the tasks of one simulated process run, and its store's work on connections.
public final class SimulatedExecutor: TaskExecutor {
    public let process: Int
    private weak let scheduler: SimulatedScheduler?

    fileprivate init(process: Int, scheduler: SimulatedScheduler) {
        self.process = process
        self.scheduler = scheduler
    }

    public func enqueue(_ job: consuming ExecutorJob) { scheduler?.add(UnownedJob(job), to: self) }

    /// For ``Store/Options``: the process's stores do their work on connections here.
    package var lanes: LaneScheduler {
        { [self] lane, work in scheduler?.add(work, in: lane, of: self) }
    }
}
