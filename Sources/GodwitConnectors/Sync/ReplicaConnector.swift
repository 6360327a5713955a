public import GodwitQueue
public import GodwitReplication
public import GodwitStore
public import GodwitTree

/// Keeps collections of a store in sync with a Godwit server.
///
/// ```swift
/// let connector = try await ReplicaConnector(
///     ReplicaName("shopping"), in: store, collections: ["lists"],
///     transport: HTTPTransport(server: "http://127.0.0.1:7007"))
/// try await connector.run()
/// ```
///
/// Local commits enqueue their push in the same transaction; the push runs when the server can be
/// reached, and is tried until it succeeds. What others change arrives by itself while
/// ``run()`` runs, and is applied under the local changes.
public final class ReplicaConnector: Sendable {
    /// Something that happened between this device and the server.
    public enum Event: Sendable {
        /// A request is about to be sent. `carriesEdit` says whether it brings a change.
        case sending(sizeInBytes: Int, carriesEdit: Bool)
        /// The server's answer to it was committed here.
        case adopted(head: StateID)
        /// An exchange failed; it will be tried again.
        case failed(reason: String)
    }

    public let replica: Replica
    private let store: Store
    private let transport: any ReplicaTransport
    private let queue: PushQueue
    private let backoff: Backoff
    private let clock: any Clock<Duration>
    private let gate = ExchangeGate()
    private let report: @Sendable (Event) -> Void

    /// Opens, or makes, the replica on this device.
    ///
    /// Nothing is sent before ``run()``.
    public init(
        _ name: ReplicaName,
        in store: Store,
        collections: Set<Key>,
        transport: any ReplicaTransport,
        options: Options = Options(),
        report: @escaping @Sendable (Event) -> Void = { _ in }
    ) async throws {
        let pipelineName = "godwit.replica.\(name)"
        let work = Deferred<ReplicaConnector>()
        var pipeline = Pipeline(pipelineName, maxConcurrent: 1)
            .on(PushReplica.self) { _, _ in
                guard let connector = work.value else { throw CancellationError() }
                return try await connector.push()
            }
        pipeline.backoff = options.backoff
        var queueOptions = PushQueue.Options()
        queueOptions.clock = options.clock
        queue = try PushQueue(store, options: queueOptions, pipelines: [pipeline])
        replica = try await Replica.open(name, in: store, collections: collections) {
            try $0.enqueue(
                PushReplica(replica: name.text),
                Placement(pipeline: pipelineName)
            )
        }
        self.store = store
        self.transport = transport
        self.report = report
        backoff = options.backoff
        clock = options.clock
        work.set(self)
    }

    /// How the connector waits, for tests to take in hand.
    public struct Options: Sendable {
        public var backoff: Backoff
        public var clock: any Clock<Duration>

        public init(
            backoff: Backoff = Backoff(),
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.backoff = backoff
            self.clock = clock
        }
    }

    /// Pushes and follows until the surrounding task is cancelled.
    ///
    /// - Precondition: Called once.
    public func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await self.queue.run() }
            group.addTask { try await self.follow() }
        }
    }

    /// Exchanges with the server once: sends what is local, and adopts what is new there.
    public func synchronize() async throws {
        repeat {
            _ = try await gate.pass { try await self.exchange() }
        } while replica.status.isDirty
    }

    /// Waits until what this commit, and those before it, changed is on the server.
    ///
    /// It waits for as long as that takes, and only while ``run()`` runs.
    public func pushed(through commit: CommitNumber) async throws {
        try await queue.finish(through: commit)
    }
}

// MARK: - Pushing

extension ReplicaConnector {
    /// How often an operation may find that the server did not know its base, before it waits.
    private static let attemptsMax = 4

    /// Performs a push operation: the batch that it finds, or freezes, is acknowledged when the
    /// operation completes, in the same transaction.
    private func push() async throws -> Outcome {
        for _ in 0..<Self.attemptsMax {
            let isDone = try await gate.pass { try await self.exchange(onlyToPush: true) }
            if isDone { return .completed }
        }
        return .retry(after: nil, reason: "the server did not take the batch")
    }

    /// One request, if there is one, and its answer.
    ///
    /// What to send is decided in a transaction: the replica's status may be one commit behind
    /// the operation that runs.
    ///
    /// - Returns: Whether what was sent, if anything was, is acknowledged.
    private func exchange(onlyToPush: Bool = false) async throws -> Bool {
        let replica = replica
        let next = try await store.write { transaction in
            onlyToPush
                ? try replica.makePush(in: transaction) : try replica.makeRequest(in: transaction)
        }
        guard let request = next else { return true }
        let body = request.encoded.canonicalBytes
        report(.sending(sizeInBytes: body.count, carriesEdit: request.batch != nil))
        do {
            let answer = try await transport.exchange(
                body,
                replica: replica.name,
                client: replica.client
            )
            let response = try Self.response(answer)
            let isDone = try await store.write {
                try replica.receive(response, to: request, in: $0)
            }
            report(.adopted(head: response.head))
            return isDone
        } catch let error as CancellationError {
            throw error
        } catch {
            report(.failed(reason: "\(error)"))
            if error as? ReplicationError == .wrongContent { try await replica.distrust() }
            throw error
        }
    }

    private static func response(_ bytes: [UInt8]) throws -> ExchangeResponse {
        do {
            return try ExchangeResponse(
                encoded: Value(canonicalBytes: bytes, depthMax: ExchangeRequest.depthMax)
            )
        } catch let error as ReplicationError where error.isOtherVersion {
            throw error
        } catch {
            throw ConnectorError.malformedAnswer(reason: "\(error)")
        }
    }
}

extension ReplicationError {
    /// Whether the two sides speak different versions, and one must be upgraded.
    fileprivate var isOtherVersion: Bool {
        switch self {
        case .senderIsOlder, .senderIsNewer: true
        default: false
        }
    }
}

// MARK: - Following

extension ReplicaConnector {
    /// Adopts each new head, and connects again when the connection ends.
    private func follow() async throws {
        var attempts = 0
        while true {
            do {
                for try await head in transport.heads(of: replica.name) {
                    attempts = 0
                    if head != replica.status.base { try await synchronize() }
                }
            } catch let error as CancellationError {
                throw error
            } catch {
                report(.failed(reason: "\(error)"))
            }
            try Task.checkCancellation()
            attempts += 1
            try await clock.sleep(for: backoff.delay(attempts: attempts))
        }
    }
}
