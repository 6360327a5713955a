public import GodwitStore
public import GodwitTree

/// Serves the replicas of a store: messages of devices in, answers out, over any transport.
///
/// ```swift
/// let server = try await ReplicaServer(Store(.file("server.sqlite")))
/// let shopping = ReplicaName("shopping")
/// try await server.create(shopping)
/// let answer = try await server.answer(message, from: client, of: shopping)
/// ```
///
/// Messages are read, merged and hashed outside of the store's transactions. Requests for one
/// replica are answered one after the other; those for several replicas share the syncs of the disk.
/// Other servers may serve the same file.
public final class ReplicaServer: Sendable {
    /// What a server takes, and how it merges.
    public struct Options: Sendable {
        /// The rules by which the server merges where no device has brought rules of its own.
        ///
        /// A device's rules for a collection replace these if their version is higher: that of
        /// `MergePolicy.standard` is 0.
        public var policy = MergePolicy.standard
        /// The largest object that is taken, in canonical bytes.
        public var objectSizeMax = 16 << 20
        /// How many bytes the objects of a replica may have together, with their keys and the names of their
        /// collections; nil for any number.
        ///
        /// A device is told which of its objects are refused for that, and sends them again with its next push.
        /// It may still make objects smaller, and remove some.
        public var replicaSizeMax: Int64?
        /// What the server spends to read one message; nil for 32 MiB, and 1,024 times its size, but
        /// 1 GiB at most.
        public var budget: ReadBudget?
        /// A device that has missed changes of more objects than these compares its objects instead.
        public var changedMax = 65_536
        /// The same for a device with a slow connection, which compares in small pieces.
        public var slowChangedMax = 16
        /// About how many canonical bytes of objects one answer to a comparison has, beside one large object;
        /// 4 MiB at most.
        public var comparisonSizeMax = 4 << 20
        /// How often a decision is made anew because another server was faster.
        public var attemptMax = 16
        /// An epoch that no line has had before.
        var newEpoch: @Sendable () -> Epoch = { Epoch(.random(in: 1...UInt64.max)) }

        public init() {}

        fileprivate func changedMax(of request: WireRequest) -> Int {
            guard case .exchange(let request) = request, request.wantsLittle else {
                return changedMax
            }
            return min(changedMax, slowChangedMax)
        }
    }

    private let storage: any LineStorage
    let options: Options
    let turns = Turns<ReplicaName>()
    private let followers = Followers()

    /// Opens the replicas of a store, and notes where each of them stands.
    public convenience init(_ store: Store, options: Options = Options()) async throws {
        self.init(try await SQLiteLineStorage(store), options: options)
    }

    package init(_ storage: any LineStorage, options: Options = Options()) {
        self.storage = storage
        self.options = options
    }

    /// Makes a replica without objects, if there is none of the name.
    public func create(_ name: ReplicaName) async throws {
        try await storage.create(name, epoch: options.newEpoch())
    }

    /// Answers a message of a client.
    ///
    /// The answer is durable when it is returned.
    ///
    /// - Parameters:
    ///   - message: The message's bytes.
    ///   - client: The client that has sent the message.
    ///   - name: The replica that it is about.
    ///   - admit: Called once the message is read: says what its sender may do, or throws.
    /// - Throws: ``ReplicationError``, and what `admit` throws. The replica has not changed then.
    public func answer(
        _ message: [UInt8],
        from client: ClientID,
        of name: ReplicaName,
        admitting admit: (MessageScope) async throws -> ReplicaRight = { _ in .write }
    ) async throws -> [UInt8] {
        let budget = options.budget ?? WireCost.budget(forRequestOf: message.count)
        let frame = try WireFrame(bytes: message, budget: budget)
        let request = try WireRequest(frame, from: client)
        let machine = try await machine(for: name, request.scope(from: client), admit)
        let answer: WireAnswer =
            switch request {
            case .comparison(let state, let ranges):
                .comparison(
                    try await storage.answer(
                        ranges.limited(to: options.comparisonSizeMax),
                        with: state,
                        of: name
                    )
                )
            case .lastChanges(let keys):
                .lastChanges(try await storage.lastChanges(of: keys, in: name).inOrder(of: keys))
            case .exchange, .recovery, .restoration:
                try await turns.take(name) { [self] in
                    try await decide(request, from: client, for: frame.features, by: machine)
                }
            }
        return answer.frame.bytes(for: frame.features)
    }

    /// What decides about a message, once its sender is let in.
    func machine(
        for name: ReplicaName,
        _ scope: MessageScope,
        _ admit: (MessageScope) async throws -> ReplicaRight
    ) async throws -> LineMachine {
        var machine = LineMachine(replica: name)
        machine.policy = options.policy
        machine.objectSizeMax = options.objectSizeMax
        machine.replicaSizeMax = options.replicaSizeMax ?? .max
        machine.keySizeMax = storage.keySizeMax
        machine.right = try await admit(scope)
        guard machine.right == .write || !scope.carriesChanges else {
            throw ReplicationError.readOnly(name.text)
        }
        return machine
    }

    private func decide(
        _ request: WireRequest,
        from client: ClientID,
        for peer: WireFeatures,
        by machine: LineMachine
    ) async throws -> WireAnswer {
        guard let reads = request.reads(for: client, changedMax: options.changedMax(of: request))
        else { preconditionFailure("Nothing is decided about a question") }
        return try await decide(reads, of: machine.replica) { slice in
            let decision = try machine.decide(
                request,
                from: client,
                slice,
                for: peer,
                newEpoch: options.newEpoch
            )
            return (decision.answer, decision.writes)
        }
    }

    /// Reads, decides and commits; anew where another server was faster.
    func decide<Answer>(
        _ reads: LineReads,
        of name: ReplicaName,
        _ body: (LineSlice) throws -> (answer: Answer, writes: LineWrites?)
    ) async throws -> Answer {
        for _ in 0..<options.attemptMax {
            let slice = try await storage.load(reads, of: name)
            let decision = try body(slice)
            guard let writes = decision.writes else { return decision.answer }
            guard try await storage.commit(writes, decidedOn: slice, of: name) else { continue }
            if let commit = writes.commit { followers.notify(commit.state, of: name) }
            return decision.answer
        }
        throw ReplicationError.contended
    }
}

// MARK: - Clients that do not return

extension ReplicaServer {
    /// The clients of a replica, in the order of their ids.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public func clients(of name: ReplicaName) async throws -> [ReplicaClient] {
        try await storage.clients(of: name)
    }

    /// The clients of a replica in a server's store, which may be in use.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public static func clients(
        of name: ReplicaName,
        in store: Store
    ) async throws -> [ReplicaClient] {
        let now = store.options.clock.millisecondsSince1970()
        return try await store.read { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            return try LinePeerTable.clients(of: line, at: now, in: database)
        }
    }

    /// How a replica in a server's store stands, which may be in use.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public static func summary(of name: ReplicaName, in store: Store) async throws -> ReplicaSummary
    {
        try await store.read { transaction in
            let line = try LineTable.number(of: name, in: transaction.connection)
            return try LineTable.summary(of: line, in: transaction.connection)
        }
    }

    /// Which clients have changed the objects of a replica last, by a server's store, which may be in use.
    ///
    /// - Returns: In the order of the objects' keys; nothing of objects that an earlier version has stored.
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public static func lastChanges(
        of name: ReplicaName,
        in store: Store
    ) async throws -> [(key: ObjectKey, change: LastChange)] {
        try await store.read { transaction in
            let line = try LineTable.number(of: name, in: transaction.connection)
            return try LineObjectTable.allLastChanges(of: line, in: transaction.connection)
        }
    }

    /// Keeps no state for a client any more; one that comes back compares its objects.
    ///
    /// - Returns: Whether a state was kept for it.
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    @discardableResult
    public func forget(_ client: ClientID, of name: ReplicaName) async throws -> Bool {
        try await turns.take(name) { try await storage.forget(client, of: name) }
    }

    /// Forgets the clients that have been silent for long, and all but the most recent ones.
    ///
    /// - Parameters:
    ///   - name: The replica that it is about.
    ///   - silence: For how long a client may be silent; nil for ever.
    ///   - countMax: How many clients a state is kept for.
    /// - Returns: The clients that are forgotten now.
    @discardableResult
    public func forgetClients(
        of name: ReplicaName,
        silentFor silence: Duration? = nil,
        keeping countMax: Int = .max
    ) async throws -> [ClientID] {
        let known = try await storage.clients(of: name).filter { !$0.isForgotten }
            .sorted { $0.silence < $1.silence }
        var forgotten: [ClientID] = []
        for (rank, client) in known.enumerated() {
            let isLate = silence.map { client.silence > $0 } ?? false
            guard isLate || rank >= countMax, try await forget(client.id, of: name) else {
                continue
            }
            forgotten.append(client.id)
        }
        return forgotten
    }
}

// MARK: - Looking

extension ReplicaServer {
    /// The names of all replicas, in their order.
    public func names() async throws -> [ReplicaName] { try await storage.names() }

    /// The newest states of a replica: the one it has now, then each that is not overtaken.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public func heads(of name: ReplicaName) async throws -> AsyncStream<LineState> {
        // A commit of another server is told to the subscriber, or was there when the head was read.
        let (stream, ticket) = followers.subscribe(to: name)
        // No commit of this server comes between: what is told last is the newest.
        try await turns.take(name) { [self] in
            followers.begin(ticket, of: name, at: try await storage.head(of: name))
        }
        return stream
    }

    /// The replicas whose newest states are followed here.
    package var followedNames: Set<ReplicaName> { followers.names }

    /// Whether the newest states of a replica are followed here.
    package func isFollowed(_ name: ReplicaName) -> Bool { followers.isFollowed(name) }

    /// Has `body` called when ``followedNames`` are others.
    package func whenFollowedNamesChange(_ body: @escaping @Sendable () -> Void) {
        followers.whenNamesChange(body)
    }

    /// Tells those who follow a replica its newest state, which another server may have made.
    package func tellHead(of name: ReplicaName) async throws {
        // No commit of this server comes between: what is told last is the newest.
        try await turns.take(name) { [self] in
            followers.notify(try await storage.head(of: name), of: name)
        }
    }

    /// The newest state of a replica, which another server of the file may have made.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public func head(of name: ReplicaName) async throws -> LineState {
        try await storage.head(of: name)
    }

    /// How a replica stands.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public func summary(of name: ReplicaName) async throws -> ReplicaSummary {
        try await storage.summary(of: name)
    }

    /// All objects of a replica as one value: a map of collections, each a map of its objects by key.
    ///
    /// - Complexity: O(*n*) in the size of the replica, in memory too.
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    public func value(of name: ReplicaName) async throws -> Value {
        var collections: [Key: [Key: Value]] = [:]
        for (key, object) in try await storage.objects(of: name) {
            collections[key.collection, default: [:]][key.key] = object.value
        }
        return .map(
            Value.Map(
                collections.map { name, objects in
                    (name, .map(Value.Map(objects.map { ($0, $1) })))
                }
            )
        )
    }
}

extension [ObjectKey: LastChange] {
    fileprivate func inOrder(of keys: [ObjectKey]) -> [LastChange?] { keys.map { self[$0] } }
}

extension WireRequest {
    fileprivate func scope(from client: ClientID) -> MessageScope {
        let (former, carriesChanges): (ClientID?, Bool) =
            switch self {
            case .exchange(let request): (request.slot.former, request.slot.batch != nil)
            case .recovery(let request): (request.former, false)
            case .comparison, .lastChanges: (nil, false)
            case .restoration: (nil, true)
            }
        return MessageScope(client: client, former: former, carriesChanges: carriesChanges)
    }

    /// What a decision needs to know; nil for a question, about which nothing is decided.
    func reads(for client: ClientID, changedMax: Int = .max) -> LineReads? {
        switch self {
        case .exchange(let request):
            var reads = request.reads(for: client)
            reads.changedMax = changedMax
            return reads
        case .recovery(let request): return LineMachine.reads(request)
        case .restoration(let request): return LineMachine.reads(request)
        case .comparison, .lastChanges: return nil
        }
    }
}
