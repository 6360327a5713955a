internal import GodwitStore
internal import GodwitTree

/// Serves the lines of a storage: the shell around ``LineMachine`` on one node.
///
/// Messages are read, merged and hashed outside of the storage's transactions. Requests for one
/// replica are answered one after the other; those for several replicas share the syncs of the disk.
/// Other nodes may serve the same storage.
final class LineServer: Sendable {
    struct Options: Sendable {
        var policy = MergePolicy.standard
        /// The largest object that is taken, in canonical bytes.
        var objectSizeMax = 16 << 20
        /// What the server spends to read one message.
        var budget = ReadBudget.standard
        /// An epoch that no line has had before.
        var newEpoch: @Sendable () -> Epoch = { Epoch(.random(in: 1...UInt64.max)) }
        /// How often a decision is made anew because another node was faster.
        var attemptMax = 16
    }

    private let storage: any LineStorage
    private let options: Options
    private let turns = Turns<ReplicaName>()

    init(_ storage: any LineStorage, options: Options = Options()) {
        self.storage = storage
        self.options = options
    }

    /// Makes a replica without objects, if there is none of the name.
    func create(_ name: ReplicaName) async throws {
        try await storage.create(name, epoch: options.newEpoch())
    }

    /// Answers a message of a client.
    ///
    /// The answer is durable when it is returned.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``, what ``WireFrame`` and ``WireRequest`` throw,
    ///   ``ReplicationError/contended`` when other nodes were faster each time.
    func answer(
        _ message: [UInt8],
        from client: ClientID,
        of name: ReplicaName
    ) async throws -> [UInt8] {
        let frame = try WireFrame(bytes: message, budget: options.budget)
        let request = try WireRequest(frame, from: client)
        let answer =
            if case .comparison(let state, let ranges) = request {
                WireAnswer.comparison(
                    try await storage.answer(ranges, with: state, of: name)
                )
            } else {
                try await turns.take(name) { [self] in
                    try await decide(request, from: client, for: frame.features, of: name)
                }
            }
        return answer.frame.bytes(for: frame.features)
    }

    private func decide(
        _ request: WireRequest,
        from client: ClientID,
        for peer: WireFeatures,
        of name: ReplicaName
    ) async throws -> WireAnswer {
        var machine = LineMachine(replica: name)
        machine.policy = options.policy
        machine.objectSizeMax = options.objectSizeMax
        for _ in 0..<options.attemptMax {
            guard let reads = request.reads(for: client) else { break }
            let slice = try await storage.load(reads, of: name)
            let decision = try machine.decide(
                request,
                from: client,
                slice,
                for: peer,
                newEpoch: options.newEpoch
            )
            guard let writes = decision.writes else { return decision.answer }
            if try await storage.commit(writes, decidedOn: slice, of: name) {
                return decision.answer
            }
        }
        throw ReplicationError.contended
    }
}

extension WireRequest {
    /// What a decision needs to know; nil for a comparison, about which nothing is decided.
    func reads(for client: ClientID) -> LineReads? {
        switch self {
        case .exchange(let request): request.reads(for: client)
        case .recovery(let request): LineMachine.reads(request)
        case .restoration(let request): LineMachine.reads(request)
        case .comparison: nil
        }
    }
}
