internal import GodwitStore
internal import GodwitTree

/// A request as it is sent.
///
/// The transport says which client makes it, and of which replica.
enum WireRequest: Hashable, Sendable {
    case exchange(PackedRequest)
    case recovery(RecoveryRequest)
    case comparison(with: LineState, RangeRequest)
    case restoration(RestorationRequest)
    /// Asks which clients have changed some objects last.
    case lastChanges(of: [ObjectKey])

    /// How many objects one request asks for at most.
    static let askedMax = 1_024
}

/// A request whose changes wait for the objects on which they were packed.
struct PackedRequest: Hashable, Sendable {
    private let nonce: Int64
    let slot: Slot
    fileprivate let changes: PackedChanges

    /// The objects that the batch changes.
    var keys: Set<ObjectKey> { changes.keys }

    /// Whether the answer must be small.
    var wantsLittle: Bool { slot.wantsLittle }
}

// MARK: - Packing

extension PackedRequest {
    /// - Parameter object: An object of the client's base.
    init(
        _ request: LineRequest,
        isCompressed: Bool = Zstandard.isAvailable,
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) {
        nonce = request.nonce
        slot = request.slot.with(changes: [:], doubtful: [])
        guard let batch = request.slot.batch else {
            changes = .none
            return
        }
        changes = try PackedChanges(
            batch.changes,
            doubtful: batch.doubtful,
            isCompressed: isCompressed,
            on: object
        )
    }

    /// The request with a batch that changes nothing.
    func unopened(for client: ClientID) -> LineRequest {
        LineRequest(client: client, nonce: nonce, slot: slot)
    }

    /// The request itself.
    ///
    /// - Parameter object: An object of the client's base.
    func unpacked(
        for client: ClientID,
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) -> LineRequest {
        let deltas = try changes.unpacked(on: object)
        return LineRequest(
            client: client,
            nonce: nonce,
            slot: slot.with(changes: deltas, doubtful: changes.doubtful)
        )
    }
}

extension Slot {
    fileprivate func with(
        changes: [ObjectKey: ObjectDelta],
        doubtful: Set<ObjectKey>
    ) -> Slot {
        let batch = batch.map { batch in
            Batch(
                sequence: batch.sequence,
                name: batch.name,
                check: batch.check,
                changes: changes,
                doubtful: doubtful
            )
        }
        return Slot(
            serial: serial,
            have: have,
            former: former,
            batch: batch,
            wantsLittle: wantsLittle
        )
    }
}

// MARK: - In a message

extension WireRequest {
    // An exchange has three bits: a client that is known under another id, a batch, and a slow connection.
    //
    //     0-3  nonce, serial, have, former?, (sequence, name, check, changes)?
    //     4    nonce, former?, epoch?, [state], [state], [start]
    //     5    state, [range, count, sum]
    //     6    nonce, epoch, serial, [state], start, is last, [key, object?]
    //     7    [key]
    //     8-11 as 0-3

    fileprivate static let formerBit: UInt8 = 1
    fileprivate static let batchBit: UInt8 = 2
    fileprivate static let littleBit: UInt8 = 8
    private static let recoveryKind: UInt8 = 4
    private static let comparisonKind: UInt8 = 5
    private static let restorationKind: UInt8 = 6
    private static let lastChangesKind: UInt8 = 7

    var frame: WireFrame {
        var writer = WireWriter()
        switch self {
        case .exchange(let request):
            request.write(to: &writer)
            return WireFrame(
                kind: request.kind,
                body: writer.bytes,
                readCost: request.changes.readCost
            )
        case .recovery(let request):
            writer.number(request.nonce)
            writer.optional(request.former) { $0.client($1) }
            writer.optional(request.epoch) { $0.epoch($1) }
            writer.list(request.adopted) { $0.state($1) }
            writer.list(request.earlier) { $0.state($1) }
            writer.starts(request.starts)
            return WireFrame(kind: Self.recoveryKind, body: writer.bytes)
        case .comparison(let state, let request):
            writer.state(state)
            writer.count(request.sizeMax)
            writer.list(request.ranges) { $0.range($1) }
            return WireFrame(kind: Self.comparisonKind, body: writer.bytes)
        case .restoration(let request):
            writer.number(request.nonce)
            writer.epoch(request.epoch)
            writer.number(request.comparedWith)
            writer.list(request.adopted) { $0.state($1) }
            writer.number(request.start)
            writer.byte(request.isLast ? 1 : 0)
            writer.list(request.objects.sorted { $0.key < $1.key }) { writer, object in
                writer.key(object.key)
                writer.optional(object.value) { $0.object($1) }
            }
            return WireFrame(kind: Self.restorationKind, body: writer.bytes)
        case .lastChanges(let keys):
            writer.list(keys) { $0.key($1) }
            return WireFrame(kind: Self.lastChangesKind, body: writer.bytes)
        }
    }

    /// Reads a request.
    ///
    /// - Parameter client: The client that the transport names.
    /// - Throws: ``ReplicationError/malformedMessage(reason:)``.
    init(_ frame: WireFrame, from client: ClientID) throws(ReplicationError) {
        var reader = WireReader(frame)
        switch frame.kind {
        case 0...3, 8...11:
            self = .exchange(try PackedRequest(kind: frame.kind, from: &reader))
        case Self.recoveryKind:
            self = .recovery(
                RecoveryRequest(
                    client: client,
                    nonce: try reader.nonce(),
                    former: try reader.optional { reader throws(ReplicationError) in
                        try reader.client()
                    },
                    epoch: try reader.optional { reader throws(ReplicationError) in
                        try reader.epoch()
                    },
                    adopted: try reader.states(),
                    earlier: try reader.states(),
                    starts: try reader.starts()
                )
            )
        case Self.comparisonKind:
            let state = try reader.state()
            let sizeMax = Int(try reader.number())
            let request = RangeRequest(ranges: try reader.ranges(), sizeMax: sizeMax)
            self = .comparison(with: state, request)
        case Self.restorationKind:
            self = .restoration(
                RestorationRequest(
                    client: client,
                    nonce: try reader.nonce(),
                    epoch: try reader.epoch(),
                    comparedWith: try reader.number(),
                    adopted: try reader.states(),
                    start: try reader.number(),
                    isLast: try reader.flag(),
                    objects: try reader.objects { reader throws(ReplicationError) in
                        try reader.optional { reader throws(ReplicationError) in
                            try reader.object()
                        }
                    }
                )
            )
        case Self.lastChangesKind:
            self = .lastChanges(
                of: try reader.list(countMax: Self.askedMax) { reader throws(ReplicationError) in
                    try reader.take(memory: WireCost.entry)
                    return try reader.key()
                }
            )
        default: throw WireReader.malformed("there is no request \(frame.kind)")
        }
        try reader.finish()
    }
}

extension PackedRequest {
    fileprivate var kind: UInt8 {
        (slot.former == nil ? 0 : WireRequest.formerBit)
            | (slot.batch == nil ? 0 : WireRequest.batchBit)
            | (slot.wantsLittle ? WireRequest.littleBit : 0)
    }

    fileprivate func write(to writer: inout WireWriter) {
        writer.number(nonce)
        writer.number(slot.serial)
        writer.fixed(slot.have.bytes)
        if let former = slot.former { writer.client(former) }
        guard let batch = slot.batch else { return }
        writer.number(batch.sequence)
        writer.fixed(batch.name.number)
        writer.fixed(batch.check)
        changes.write(to: &writer)
    }

    fileprivate init(kind: UInt8, from reader: inout WireReader) throws(ReplicationError) {
        nonce = try reader.nonce()
        let serial = try reader.number()
        guard let have = StateToken(bytes: try reader.fixed(StateToken.sizeInBytes)) else {
            throw WireReader.malformed("a state has no name")
        }
        let former = kind & WireRequest.formerBit == 0 ? nil : try reader.client()
        let wantsLittle = kind & WireRequest.littleBit != 0
        guard kind & WireRequest.batchBit != 0 else {
            changes = .none
            slot = Slot(
                serial: serial,
                have: have,
                former: former,
                batch: nil,
                wantsLittle: wantsLittle
            )
            return
        }
        let batch = Batch(
            sequence: try reader.number(),
            name: BatchName(try reader.fixed(UInt32.self)),
            check: try reader.fixed(UInt32.self),
            changes: [:]
        )
        changes = try PackedChanges(from: &reader)
        slot = Slot(
            serial: serial,
            have: have,
            former: former,
            batch: batch,
            wantsLittle: wantsLittle
        )
    }
}
