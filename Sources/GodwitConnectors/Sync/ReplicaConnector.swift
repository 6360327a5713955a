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
        /// An exchange failed; the connector tries again.
        case failed(ReplicaName, any Error)
        /// The replica is not in sync any more: the app has closed it or left it, or another process has
        /// left it.
        case closed(ReplicaName)
    }

    /// How the connector waits, and which queue runs its pushes.
    public struct Options: Sendable {
        public var backoff = Backoff()
        public var clock: any Clock<Duration> = ContinuousClock()
        /// What tells a connector with its own queue whether there is a network; `ConstantConditions()` in tests.
        public var monitor: any ConditionsMonitor = SystemConditions()
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
    let transport: any ReplicaTransport
    let options: Options
    let queue: PushQueue?
    let report: @Sendable (Event) -> Void
    let links = Mutex(ReplicaLinks())
    private let runs = Turnstile()

    /// Nothing is sent before ``run()``.
    ///
    /// - Throws: `QueueError.pipelineExists(_:)` when the store has a connector for the same server.
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
        queueOptions.monitor = options.monitor
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
    /// - Parameters:
    ///   - name: The replica's name on the server.
    ///   - collections: The collections whose objects are replicated.
    ///   - policy: How local changes merge with those that arrive.
    ///   - undoCountMax: How many steps of this device `Replica.undo(in:)` can take back.
    /// - Throws: `ReplicationError.unsuitableCollection(_:reason:)`,
    ///   `StoreError.hookExists(name:)` when the replica is open already.
    public func open(
        _ name: ReplicaName,
        collections: Set<Key>,
        policy: MergePolicy = .standard,
        undoCountMax: Int = 0
    ) async throws -> Replica {
        try await closeIfLeft(name)
        let pushes = PushMarker(name, pipeline: pipeline.name)
        try await store.read { try pushes.findWaiting(in: $0) }
        let replica = try await Replica.open(
            name,
            server: options.server,
            in: store,
            collections: collections,
            policy: policy,
            undoCountMax: undoCountMax
        ) { try pushes.enqueue(in: $0) }
        let link = ReplicaLink(replica: replica, pushes: pushes)
        links.withLock { $0.add(link) }
        // The app may close the replica by itself.
        replica.whenClosed { [weak self, weak link] in
            if let self, let link { closed(link) }
        }
        do {
            // A push that was there may have run before the replica was open.
            try await store.write { try pushes.hasten(in: $0) }
            try await enqueueIfDirty(link)
        } catch {
            replica.close()
            throw error
        }
        return replica
    }

    /// Opens a replica of some collections of the store, and makes it where there is none.
    ///
    /// ```swift
    /// let shopping = try await connector.open("shopping", collections: items, lists)
    /// ```
    ///
    /// See ``open(_:collections:policy:undoCountMax:)-(_,Set<Key>,_,_)``.
    public func open<each Object>(
        _ name: ReplicaName,
        collections: repeat Store.Collection<each Object>,
        policy: MergePolicy = .standard,
        undoCountMax: Int = 0
    ) async throws -> Replica {
        var names: Set<Key> = []
        for collection in repeat each collections { names.insert(collection.name) }
        return try await open(
            name,
            collections: names,
            policy: policy,
            undoCountMax: undoCountMax
        )
    }

    /// Ends keeping a replica in sync, until it is opened again.
    ///
    /// What is changed meanwhile is recorded, and sent then.
    public func close(_ name: ReplicaName) {
        links.withLock { $0[name] }?.replica.close()
    }

    /// Closes a replica that the app, or another process, has taken out of the store.
    private func closeIfLeft(_ name: ReplicaName) async throws {
        guard let link = links.withLock({ $0[name] }) else { return }
        do {
            _ = try await link.replica.base()
        } catch ReplicationError.unknownReplica {
            link.replica.close()
        }
    }

    private func closed(_ link: ReplicaLink) {
        links.withLock { $0.remove(link) }
        link.end()
        report(.closed(link.replica.name))
    }

    /// Takes a replica out of the store: it is not in sync any more, and its objects are the app's own.
    ///
    /// ```swift
    /// try await connector.leave(shopping.name, removingObjects: true)   // signs out
    /// ```
    ///
    /// The server keeps what it has. A replica that is opened again under the name begins as a new
    /// one.
    ///
    /// - Parameters:
    ///   - name: The replica's name on the server.
    ///   - removingObjects: Whether the objects go too, unless another replica has their collection.
    ///   - discardingChanges: Whether changes that the server does not have may be given up.
    /// - Throws: `ReplicationError.unsentChanges(_:count:)`; the replica stays open then.
    ///   `ReplicationError.unknownReplica(_:)` when it is not open; also when another process has left
    ///   it, and then it is closed.
    public func leave(
        _ name: ReplicaName,
        removingObjects: Bool = false,
        discardingChanges: Bool = false
    ) async throws {
        guard let link = links.withLock({ $0[name] }) else {
            throw ReplicationError.unknownReplica(name.text)
        }
        // An exchange under way may bring what would be given up, else.
        if discardingChanges { link.giveUp() }
        defer { link.goOn() }
        try await link.gate.pass { [self] in
            do {
                try await store.write { transaction in
                    try link.replica.leave(
                        removingObjects: removingObjects,
                        discardingChanges: discardingChanges,
                        in: transaction
                    )
                    try transaction.skipOperations(
                        in: self.pipeline.name,
                        reason: "the replica was left"
                    ) {
                        link.pushes.isPush($0)
                    }
                }
            } catch ReplicationError.unknownReplica(let name) {
                link.replica.close()
                throw ReplicationError.unknownReplica(name)
            }
            link.replica.close()
        }
    }

    /// Pushes and follows until the surrounding task is cancelled.
    ///
    /// Call it again after an error, when the user has signed in anew for example.
    ///
    /// If the server does not have one of several replicas, ``SyncStatus/lastError`` says so, and the others
    /// go on. That one is followed again after an exchange that succeeds.
    ///
    /// If it runs already, the call waits until that run has ended: cancel the task of one, and start another.
    ///
    /// - Throws: ``ConnectorError/refused(status:code:message:)`` when the server has none of the replicas,
    ///   or does not take the token, or one of the two sides must be upgraded; `StoreError` when the store is
    ///   closed.
    public func run() async throws {
        try await runs.pass { [self] in try await runAlone() }
    }

    private func runAlone() async throws {
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
                    do {
                        try await link.untilClosed { try await self.follow(link) }
                    } catch let error
                        where Self.isUnknown(error) && self.links.withLock({ $0.leaveOut(link) })
                    {
                        return
                    } catch {
                        self.links.withLock { $0.endFollowing() }
                        throw error
                    }
                }
            }
            try Task.checkCancellation()
        }
    }

    /// Exchanges with the server until nothing is left to send, and what is new there is adopted.
    ///
    /// - Throws: ``ConnectorError``, `ReplicationError`.
    public func synchronize(_ name: ReplicaName) async throws {
        guard let link = links.withLock({ $0[name] }) else {
            throw ReplicationError.unknownReplica(name.text)
        }
        // The app may have ended between an answer and the second trial of what a hook had refused.
        try await link.replica.retryRefused()
        try await synchronize(link)
        if link.isClosed { throw ReplicationError.unknownReplica(name.text) }
    }

    /// How a replica is kept in sync; nil when it is not open.
    public func status(of name: ReplicaName) -> SyncStatus? {
        links.withLock { $0[name]?.status.value }
    }

    /// How a replica is kept in sync: as it is now, then each newer status that is not overtaken.
    ///
    /// The sequence ends when the replica is closed, or left by this process or another one; that of a
    /// replica that is not open ends at once.
    public func statuses(of name: ReplicaName) -> AsyncStream<SyncStatus> {
        links.withLock { $0[name]?.status.values() } ?? AsyncStream { $0.finish() }
    }

    /// Waits until what this commit, and those before it, changed is on the server.
    ///
    /// It waits for as long as that takes, and only while ``run()`` runs.
    ///
    /// - Throws: ``ConnectorError/noOwnQueue`` where the app's queue runs the pushes: ask that one.
    public func pushed(through commit: CommitNumber) async throws {
        guard let queue else { throw ConnectorError.noOwnQueue }
        try await queue.finish(through: commit)
    }
}
