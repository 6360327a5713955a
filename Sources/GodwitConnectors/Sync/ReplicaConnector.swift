internal import Foundation
public import GodwitQueue
public import GodwitReplication
public import GodwitStore
public import GodwitTree
internal import Synchronization

/// Keeps replicas of a store in sync with a Godwit server.
///
/// ```swift
/// let connector = try ReplicaConnector(store, transport: HTTPTransport(server: address))
/// let shopping = try await connector.open(ReplicaName("shopping"), collections: ["lists"])
/// try await connector.run()
/// ```
///
/// A commit that changes a replica enqueues its push in the same transaction. The push runs when the
/// server can be reached, and is tried until it succeeds. Changes of others arrive while ``run()``
/// runs, and are applied under the local changes.
///
/// An app with a queue of its own lets that queue run the pushes, beside its other operations:
///
/// ```swift
/// var options = ReplicaConnector.Options()
/// options.hasOwnQueue = false
/// let connector = try ReplicaConnector(store, transport: transport, options: options)
/// let queue = try PushQueue(store, pipelines: [uploads, connector.pipeline])
/// ```
public final class ReplicaConnector: Sendable {
    /// Something that happened between this device and the server.
    public enum Event: Sendable {
        /// A request is about to be sent. `carriesChanges` says whether it brings any.
        case sending(ReplicaName, sizeInBytes: Int, carriesChanges: Bool)
        /// The server's answer is taken in, and the replica has this base.
        case adopted(ReplicaName, base: LineState)
        /// An exchange failed; it will be tried again.
        case failed(ReplicaName, reason: String)
    }

    /// How the connector waits, and which queue runs its pushes.
    public struct Options: Sendable {
        public var backoff = Backoff()
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The app's name for the server, which tells it from others of the same store.
        public var server = "main"
        /// Whether the connector runs its pushes; false for an app that gives
        /// ``ReplicaConnector/pipeline`` to a queue of its own.
        public var hasOwnQueue = true

        public init() {}
    }

    public let store: Store
    /// The pipeline of the pushes, for the queue of an app.
    public let pipeline: Pipeline
    private let transport: any ReplicaTransport
    private let options: Options
    private let queue: PushQueue?
    private let report: @Sendable (Event) -> Void
    private let links = Mutex(Links())

    /// Nothing is sent before ``run()``.
    ///
    /// - Throws: ``QueueError/pipelineExists(_:)`` when the store has a connector for the same server.
    public init(
        _ store: Store,
        transport: any ReplicaTransport,
        options: Options = Options(),
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws {
        let work = Deferred<ReplicaConnector>()
        var pipeline = Pipeline("godwit.replicas.\(options.server)", order: .flat, maxConcurrent: 4)
            .on(PushReplica.self) { push, _ in
                guard let connector = work.value else { throw CancellationError() }
                return try await connector.push(push.replica)
            }
        pipeline.backoff = options.backoff
        var queueOptions = PushQueue.Options()
        queueOptions.clock = options.clock
        queue =
            options.hasOwnQueue
            ? try PushQueue(store, options: queueOptions, pipelines: [pipeline]) : nil
        self.store = store
        self.pipeline = pipeline
        self.transport = transport
        self.options = options
        self.report = report
        work.set(self)
    }

    /// Opens a replica of the store, and makes it where there is none.
    ///
    /// What its collections have already is sent as new objects. A connector without a queue of its
    /// own needs the app's queue to be there before.
    ///
    /// - Throws: ``ReplicationError/unsuitableCollection(_:reason:)``,
    ///   ``StoreError/hookExists(name:)`` when the replica is open already.
    public func open(_ name: ReplicaName, collections: Set<Key>) async throws -> Replica {
        let pushes = PushMarker(name, pipeline: pipeline.name)
        try await store.read { try pushes.findWaiting(in: $0) }
        let replica = try await Replica.open(
            name,
            server: options.server,
            in: store,
            collections: collections
        ) { try pushes.enqueue(in: $0) }
        let link = Link(replica: replica, pushes: pushes)
        links.withLock { $0.add(link) }
        // A push that was there may have run before the replica was open.
        try await enqueueIfDirty(link)
        return replica
    }

    /// Pushes and follows until the surrounding task is cancelled.
    ///
    /// - Precondition: Called once.
    /// - Throws: ``ConnectorError/refused(status:code:message:)`` when the server does not have a replica,
    ///   or one of the two sides must be upgraded.
    public func run() async throws {
        let opened = links.withLock { $0.follow() }
        try await withThrowingDiscardingTaskGroup { group in
            // The loop is no child, which a child that fails would cancel.
            if let queue {
                group.addTask {
                    defer { self.links.withLock { $0.endFollowing() } }
                    try await queue.run()
                }
            }
            if store.options.processes == .several {
                group.addTask {
                    defer { self.links.withLock { $0.endFollowing() } }
                    try await self.followOthers()
                }
            }
            for await link in opened {
                group.addTask {
                    defer { self.links.withLock { $0.endFollowing() } }
                    try await self.follow(link)
                }
            }
            try Task.checkCancellation()
        }
    }

    /// Exchanges with the server until nothing is left to send, and what is new there is adopted.
    ///
    /// - Throws: ``ConnectorError``, ``ReplicationError``.
    public func synchronize(_ name: ReplicaName) async throws {
        guard let link = links.withLock({ $0[name] }) else {
            throw ReplicationError.unknownReplica(name.text)
        }
        try await synchronize(link)
    }

    /// How a replica is kept in sync; nil when it is not open.
    public func status(of name: ReplicaName) -> SyncStatus? {
        links.withLock { $0[name]?.status.value }
    }

    /// How a replica is kept in sync: as it is now, then each newer status that is not overtaken.
    ///
    /// The sequence of a replica that is not open ends at once.
    public func statuses(of name: ReplicaName) -> AsyncStream<SyncStatus> {
        links.withLock { $0[name]?.status.values() } ?? AsyncStream { $0.finish() }
    }

    /// Waits until what this commit, and those before it, changed is on the server.
    ///
    /// It waits for as long as that takes, and only while ``run()`` runs.
    ///
    /// - Precondition: The connector has a queue of its own; else the app asks its own.
    public func pushed(through commit: CommitNumber) async throws {
        guard let queue else { preconditionFailure("The app's own queue runs the pushes") }
        try await queue.finish(through: commit)
    }
}

/// A replica that is open, and the gate for its exchanges.
private struct Link: Sendable {
    let replica: Replica
    let pushes: PushMarker
    let gate = ExchangeGate()
    let status = ObservedStatus()
}

/// The replicas that are open.
private struct Links {
    private(set) var all: [Link] = []
    private var continuation: AsyncStream<Link>.Continuation?

    subscript(name: ReplicaName) -> Link? { all.first { $0.replica.name == name } }

    mutating func add(_ link: Link) {
        all.append(link)
        continuation?.yield(link)
    }

    /// Those that are open now, and each that will be.
    mutating func follow() -> AsyncStream<Link> {
        let (stream, continuation) = AsyncStream.makeStream(of: Link.self)
        for link in all { continuation.yield(link) }
        self.continuation = continuation
        return stream
    }

    func endFollowing() { continuation?.finish() }
}

// MARK: - Exchanging

extension ReplicaConnector {
    /// How many requests of one replica may follow each other before it waits.
    private static let requestMax = 1 << 16

    /// Performs a push: exchanges until nothing is left to send.
    private func push(_ name: String) async throws -> Outcome {
        guard let link = try links.withLock({ try $0[ReplicaName(name)] }) else {
            return .retry(after: .seconds(5), reason: "the replica \"\(name)\" is not open")
        }
        let isDone = try await exchangeAll(link, onlyIfNeeded: true)
        return isDone ? .completed : .retry(reason: "the server did not take the changes")
    }

    private func synchronize(_ link: Link) async throws {
        guard try await exchangeAll(link) else {
            throw ConnectorError.malformedAnswer(reason: "the server does not come to an end")
        }
    }

    /// Exchanges until nothing is left to send or to adopt.
    ///
    /// - Returns: Whether that was so before the last request that it makes.
    private func exchangeAll(_ link: Link, onlyIfNeeded: Bool = false) async throws -> Bool {
        var idleCount = 0
        for _ in 0..<Self.requestMax {
            let step = try await link.gate.pass { [self] in
                try await exchange(link, onlyIfNeeded: onlyIfNeeded)
            }
            switch step {
            case .done: return true
            case .moved: idleCount = 0
            case .idle: idleCount += 1
            }
            try await letOthersPass(idleCount)
        }
        return false
    }

    /// Waits for a moment of random length if requests lead nowhere: where another process exchanges
    /// too, each drops the answers of which the requests were made before the other's.
    private func letOthersPass(_ idleCount: Int) async throws {
        guard store.options.processes == .several, idleCount > 2 else { return }
        let longest = 20 << min(idleCount, 5)
        try await options.clock.sleep(for: .milliseconds(Int.random(in: 0..<longest)))
    }

    private func enqueueIfDirty(_ link: Link) async throws {
        try await store.write { transaction in
            if try link.replica.isDirty(in: transaction) {
                try link.pushes.enqueue(in: transaction)
            }
        }
    }

    /// Enqueues pushes of changes that other processes have made.
    private func followOthers() async throws {
        for await change in store.changes() where change.isFromElsewhere {
            for link in links.withLock(\.all) { try await enqueueIfDirty(link) }
        }
    }

    /// Where one request has led.
    private enum Step {
        case done
        /// Another request has to follow, and this one has had a use.
        case moved
        /// Another one has to follow.
        case idle
    }

    /// One request and its answer.
    private func exchange(_ link: Link, onlyIfNeeded: Bool) async throws -> Step {
        let replica = link.replica
        do {
            let next = try await store.write { transaction in
                try onlyIfNeeded && !replica.needsRequest(in: transaction)
                    ? nil : replica.nextRequest(in: transaction)
            }
            guard let request = next else { return .done }
            let message = request.bytes
            report(
                .sending(
                    replica.name,
                    sizeInBytes: message.count,
                    carriesChanges: request.carriesChanges
                )
            )
            let answer = try await transport.exchange(
                message,
                replica: replica.name,
                client: request.client
            )
            let (isBehind, old, base) = try await store.write { transaction in
                let old = try replica.base(in: transaction)
                let isBehind = try replica.receive(answer, to: request, in: transaction)
                return (isBehind, old, try replica.base(in: transaction))
            }
            report(.adopted(replica.name, base: base))
            link.status.update { status in
                status.lastError = nil
                if !isBehind { status.lastSynced = Date() }
            }
            if !isBehind { return .done }
            return base != old || request.isComparison ? .moved : .idle
        } catch let error as CancellationError {
            throw error
        } catch {
            failed(link, error)
            if error as? ReplicationError == .wrongContent {
                try await store.write { try replica.distrust(in: $0) }
            }
            throw error
        }
    }
}

// MARK: - Following

extension ReplicaConnector {
    /// Adopts each new head, and connects again when the connection ends.
    private func follow(_ link: Link) async throws {
        var attempts = 0
        defer { link.status.update { $0.isConnected = false } }
        while true {
            do {
                for try await head in transport.heads(of: link.replica.name) {
                    link.status.update { $0.isConnected = true }
                    if try await head != link.replica.base() {
                        try await synchronize(link)
                    }
                    attempts = 0
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                failed(link, error)
                if Self.isFinal(error) { throw error }
            }
            link.status.update { $0.isConnected = false }
            try Task.checkCancellation()
            attempts += 1
            try await options.clock.sleep(for: options.backoff.delay(attempts: attempts))
        }
    }
}

extension ReplicaConnector {
    private func failed(_ link: Link, _ error: any Error) {
        report(.failed(link.replica.name, reason: "\(error)"))
        link.status.update { $0.lastError = "\(error)" }
    }

    /// Whether trying again does not help.
    private static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case ReplicationError.senderIsOlder, ReplicationError.senderIsNewer: true
        case ConnectorError.refused(_, let code, _):
            ["unknownReplica", "upgradeClient", "upgradeServer"].contains(code)
        default: false
        }
    }
}
