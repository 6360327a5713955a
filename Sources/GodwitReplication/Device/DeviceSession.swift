internal import GodwitStore
internal import GodwitTree

// What a device knows of its exchanges beside its rows.
//
//   exchanging ──unknown base──► lost ──answer──► comparing ──┬──────────────► exchanging
//        ▲                         ▲                  │       └► giving back ──┐
//        │                         └──state is gone───┘               │        │
//        └────────────────────────────────────────────────────────────┴────────┘
//
// A batch that is under way gets its outcome from the recovery's answer, once the objects are compared:
// until then the base is what it says.
//
// A kill takes all of it. The next exchange says again that the server does not have the base; the
// row says that the store was salvaged. What a comparison has found is on the disk, and a comparison
// that follows asks only for the rest.

/// What a device reads of its rows.
protocol DeviceReader {
    associatedtype Base: ComparedObjects

    /// Some of the objects, with the records about them, and the rows of these, of the frozen batch, and
    /// those in doubt.
    func slice(with keys: Set<ObjectKey>) throws -> DeviceSlice

    /// All rows, and some of the objects.
    func wholeSlice(with keys: Set<ObjectKey>) throws -> DeviceSlice

    /// The objects of the base.
    func base() throws -> Base

    /// Whether a comparison has found something on the server, and has not ended.
    func hasFetched() throws -> Bool

    /// What it has found; nil where the server had nothing.
    func fetched() throws -> [ObjectKey: VersionedValue?]

    /// The sum of the base's objects, counted anew.
    func sum() throws -> ContentSum
}

/// How far a device has come with its server since the program started.
struct DeviceSession: Hashable, Sendable {
    private enum Phase: Hashable {
        case exchanging
        /// The server does not have the base.
        case lost
        case comparing(RecoveryAnswer, RangeComparison)
        /// The keys ascend, and the objects of the first ones are on the server.
        case givingBack(RecoveryAnswer, [ObjectKey], givenCount: Int)
    }

    private var phase = Phase.exchanging
    /// How many exchanges may still have a large answer: the objects were compared just now, so that few
    /// have changed since.
    private var largeAnswerCount = 0
    /// If the connection has cut so many of them, the objects are compared again.
    private static let largeAnswerMax = 3
    /// Objects that no way to the server carries: they stay here as edits, instead of being given back.
    private var withheld: Set<ObjectKey> = []
    /// The client that made the last request, and its nonce.
    private var last: DeviceIdentity?
    /// Changes when another program has gone on in between.
    private(set) var generation = 0

    /// Whether the next request is an exchange, with what is pending.
    var isExchanging: Bool { phase == .exchanging }

    /// How far a comparison has come; nil when none is under way.
    var progress: DownloadProgress? {
        if case .comparing(_, let comparison) = phase { comparison.progress } else { nil }
    }

    /// Whether the server did not know the device, which keeps its objects beside the server's.
    var isUniting: Bool {
        if case .comparing(let answer, _) = phase { answer.way == .unite } else { false }
    }
}

// MARK: - Sending

extension DeviceSession {
    /// Begins anew where another program has gone on, and with a comparison where the row asks for one,
    /// or where an earlier program has not finished its own.
    mutating func begin(
        _ replica: DeviceReplica,
        generation: Int = 0,
        hasFetched: () throws -> Bool
    ) rethrows {
        if generation != self.generation {
            let isLost = phase == .lost
            self = DeviceSession()
            self.generation = generation
            if isLost { phase = .lost }
        }
        guard isExchanging else { return }
        if try replica.isSalvaged || last == nil && hasFetched() { distrust() }
    }

    /// The objects that the next request tells, as far as they fit into it.
    var wantedKeys: ArraySlice<ObjectKey> {
        guard case .givingBack(_, let keys, let count) = phase else { return [] }
        return keys.dropFirst(count)
    }

    /// The next request.
    ///
    /// - Parameters:
    ///   - slice: The rows with a nonce that was not used before, what is pending frozen, and the
    ///     first of the objects that ``wantedKeys`` names, as many as a batch has.
    ///   - adopted: States that the device has adopted, the last one last.
    mutating func request(
        _ machine: DeviceMachine,
        _ slice: DeviceSlice,
        adopted: [AdoptedState]
    ) throws(ReplicationError) -> DeviceRequest {
        // States of different lines may have one serial: only those of one epoch are of one line.
        let epoch = slice.replica.epoch
        let states = adopted.filter { $0.epoch == epoch }.map(\.state)
        let identity = DeviceIdentity(client: slice.client, nonce: slice.identity.nonce)
        last = identity
        switch phase {
        case .exchanging:
            var slot = try machine.slot(slice)
            if largeAnswerCount > 0 {
                slot.wantsLittle = false
                largeAnswerCount -= 1
            }
            return .exchange(
                LineRequest(client: identity.client, nonce: identity.nonce, slot: slot)
            )
        case .lost:
            return .recovery(
                RecoveryRequest(
                    client: identity.client,
                    nonce: identity.nonce,
                    former: slice.replica.former,
                    epoch: epoch,
                    adopted: states,
                    earlier: adopted.filter { $0.epoch != epoch }.map(\.state),
                    starts: slice.replica.starts
                )
            )
        case .comparing(let answer, var comparison):
            comparison.answerSizeMax = machine.answerSizeMax
            phase = .comparing(answer, comparison)
            return .comparison(with: answer.state, comparison.next)
        case .givingBack(let answer, let keys, let count):
            let piece = machine.piece(of: keys.dropFirst(count), slice)
            return .restoration(
                RestorationRequest(
                    client: identity.client,
                    nonce: identity.nonce,
                    epoch: epoch ?? answer.epoch,
                    comparedWith: answer.state.serial,
                    adopted: states,
                    start: Int64(count),
                    isLast: count + piece.count == keys.count,
                    objects: piece
                )
            )
        }
    }
}

// MARK: - Receiving

extension DeviceSession {
    /// Whether a request is the last one that this replica has made, for the client that makes its
    /// requests now.
    func isLast(_ request: DeviceRequest, of client: ClientID) -> Bool {
        guard let last, last.client == client else { return false }
        switch (request, phase) {
        case (.exchange(let request), .exchanging): return last.isOf(request.client, request.nonce)
        case (.recovery(let request), .lost): return last.isOf(request.client, request.nonce)
        case (.comparison(let state, let ranges), .comparing(let answer, let comparison)):
            return answer.state == state && comparison.next == ranges
        case (.restoration(let request), .givingBack):
            return last.isOf(request.client, request.nonce)
        case (.exchange, _), (.recovery, _), (.comparison, _), (.restoration, _): return false
        }
    }

    /// Takes in the answer to the last request.
    ///
    /// - Parameter fresh: The id that the device takes when a clone uses its own.
    /// - Returns: What changes on the device; nil for nothing.
    /// - Throws: ``ReplicationError/wrongContent`` when what arrives does not lead to what the
    ///   server says. The device compares its objects then.
    mutating func receive<Reader: DeviceReader>(
        _ answer: WireAnswer,
        to request: DeviceRequest,
        _ machine: DeviceMachine,
        _ reader: Reader,
        fresh: ClientID
    ) throws -> Adoption? {
        do {
            return try take(answer, to: request, machine, reader, fresh: fresh)
        } catch ReplicationError.invalidDelta {
            // The change was made for another object than the base has.
            throw ReplicationError.wrongContent
        }
    }

    private mutating func take<Reader: DeviceReader>(
        _ answer: WireAnswer,
        to request: DeviceRequest,
        _ machine: DeviceMachine,
        _ reader: Reader,
        fresh: ClientID
    ) throws -> Adoption? {
        let adoption: Adoption?
        switch (request, answer) {
        case (.exchange(let request), .exchange(let answer)):
            largeAnswerCount = 0
            let slice = try reader.slice(
                with: answer.keys,
                answer.outcome,
                in: answer.epoch,
                overtakenBy: answer.nonce
            )
            adoption = try machine.adopt(
                slice.unpacked(answer, isToBatch: true),
                to: request.slot,
                slice,
                fresh: fresh
            )
        case (.recovery, .recovery(let answer)):
            return try begin(answer, reader, fresh: fresh)
        case (.comparison, .comparison(let answers)):
            adoption = try compare(answers, machine, reader)
        case (.restoration(let request), .restoration(let answer)):
            if answer.status == .staged {
                try give(request)
                return nil
            }
            guard case .givingBack(let recovery, _, _) = phase else { return nil }
            (phase, withheld) = (.exchanging, [])
            let slice = try reader.slice(with: answer.keys, answer.outcome, in: answer.epoch)
            adoption = try machine.adoptRestoration(
                slice.unpacked(answer, isToBatch: false),
                after: recovery,
                slice
            )
        default: throw ReplicationError.malformedMessage(reason: "it answers another request")
        }
        if adoption?.next == .recover { phase = .lost }
        return adoption
    }

    /// A piece is on the server: the next one follows.
    private mutating func give(_ piece: RestorationRequest) throws(ReplicationError) {
        guard !piece.isLast, case .givingBack(let answer, let keys, let count) = phase else {
            throw .malformedMessage(
                reason: "the last piece of a restoration is kept, and not taken"
            )
        }
        phase = .givingBack(answer, keys, givenCount: count + piece.objects.count)
    }

    private mutating func begin<Reader: DeviceReader>(
        _ answer: RecoveryAnswer,
        _ reader: Reader,
        fresh: ClientID
    ) throws -> Adoption? {
        let slice = try reader.slice(
            with: [],
            answer.outcome,
            in: answer.epoch,
            overtakenBy: answer.nonce
        )
        guard answer.way != .stale else {
            if DeviceIdentity.isUsedUp(answer.nonce) { return try slice.forked(fresh: fresh) }
            var adoption = Adoption(replica: slice.replica, identity: slice.identity)
            adoption.next = .ask
            adoption.identity.nonce = max(slice.identity.nonce, answer.nonce)
            return adoption
        }
        if slice.replica.isForked(by: answer.outcome, in: answer.epoch) {
            return try slice.forked(fresh: fresh)
        }
        let answer = slice.replica.isSalvaged ? answer.uniting : answer
        let found = try reader.fetched()
        let base = found.isEmpty ? [:] : try reader.slice(with: Set(found.keys)).baseObjects
        let fetched = FetchedObjects(found, over: base)
        phase = .comparing(answer, try RangeComparison(reader.base(), fetched: fetched))
        return nil
    }

    private mutating func compare<Reader: DeviceReader>(
        _ answers: [SpanAnswer]?,
        _ machine: DeviceMachine,
        _ reader: Reader
    ) throws -> Adoption? {
        guard let answers, case .comparing(let answer, var comparison) = phase else {
            phase = .lost
            return nil
        }
        let told = try comparison.receive(answers, reader.base())
        phase = .comparing(answer, comparison)
        guard comparison.open.isEmpty else {
            return told.isEmpty ? nil : try reader.slice(with: []).fetching(told)
        }
        let found = comparison.differences
        var slice = try reader.slice(with: Set(found.keys), answer.outcome, in: answer.epoch)
        let base = slice.baseObjects
        let differences = found.filter { $0.value != base[$0.key] }
        slice.replica.sum = try reader.sum()
        guard answer.way != .giveBack else {
            let given = differences.keys.filter { !withheld.contains($0) }
            let keys = given.sorted { $0.precedes($1) }
            let isGiven = answer.givenCount < keys.count
            phase = .givingBack(answer, keys, givenCount: isGiven ? Int(answer.givenCount) : 0)
            return try machine.withhold(differences.filter { withheld.contains($0.key) }, slice)
        }
        (phase, largeAnswerCount) = (.exchanging, Self.largeAnswerMax)
        return try machine.adopt(answer, differences, slice)
    }

    /// Has an object stay here that is given back alone; the objects are compared once more before.
    mutating func withhold(_ request: DeviceRequest) {
        guard case .restoration(let piece) = request, piece.objects.count == 1 else { return }
        withheld.formUnion(piece.objects.keys)
    }

    /// Compares the objects with the server's, because what arrived was not what the server says.
    ///
    /// An answer that is under way is dropped.
    mutating func distrust() { (phase, last) = (.lost, nil) }
}

extension DeviceSlice {
    /// Keeps what a comparison has found so far.
    fileprivate func fetching(_ objects: [ObjectKey: VersionedValue?]) -> Adoption {
        var adoption = Adoption(replica: replica, identity: identity)
        (adoption.fetched, adoption.next) = (.more(objects), .ask)
        return adoption
    }
}

extension DeviceIdentity {
    fileprivate func isOf(_ client: ClientID, _ nonce: Int64) -> Bool {
        client == self.client && nonce == self.nonce
    }
}

extension DeviceReader {
    /// What an answer needs to know of the device: all pending objects, if these have to be doubted.
    fileprivate func slice(
        with keys: Set<ObjectKey>,
        _ outcome: BatchOutcome?,
        in epoch: Epoch,
        overtakenBy nonce: Int64 = 0
    ) throws -> DeviceSlice {
        let slice = try slice(with: keys)
        guard
            slice.replica.frozenAs != nil || slice.replica.isForked(by: outcome, in: epoch)
                || DeviceIdentity.isUsedUp(nonce)
        else { return slice }
        return try wholeSlice(with: keys)
    }
}

extension RecoveryAnswer {
    /// The answer of a server that does not know the device: a salvaged store may have lost any row,
    /// so that nothing that it does not have was removed.
    fileprivate var uniting: RecoveryAnswer {
        RecoveryAnswer(
            way: .unite,
            epoch: epoch,
            nonce: nonce,
            outcome: outcome,
            state: state,
            starts: starts
        )
    }
}
