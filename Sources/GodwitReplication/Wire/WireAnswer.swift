internal import GodwitStore
internal import GodwitTree

/// An answer as it is sent.
enum WireAnswer: Hashable, Sendable {
    case exchange(PackedAnswer)
    case recovery(RecoveryAnswer)
    /// nil when the server does not have the state any more.
    case comparison([SpanAnswer]?)
    case restoration(PackedAnswer)
    /// Of each object that was asked for, in their order; nil where the server does not know.
    case lastChanges([LastChange?])
}

/// An answer whose changes wait for the objects on which they were packed.
struct PackedAnswer: Hashable, Sendable {
    private let answer: SlotAnswer
    private let changes: PackedChanges

    /// - Parameter object: An object as the client has it, with the batch if it was accepted.
    init(
        _ answer: SlotAnswer,
        isCompressed: Bool = Zstandard.isAvailable,
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) {
        self.answer = answer.with(changes: [:])
        changes = try PackedChanges(answer.changes, isCompressed: isCompressed, on: object)
    }

    var status: SlotAnswer.Status { answer.status }
    var outcome: BatchOutcome? { answer.outcome }
    var epoch: Epoch { answer.epoch }
    var nonce: Int64 { answer.nonce }

    /// The objects that change.
    var keys: Set<ObjectKey> { changes.keys }

    /// The answer itself.
    ///
    /// - Parameter object: An object as it is here, with the batch if it was accepted.
    func unpacked(
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) -> SlotAnswer {
        answer.with(changes: try changes.unpacked(on: object))
    }
}

extension SlotAnswer {
    fileprivate func with(changes: [ObjectKey: ObjectDelta]) -> SlotAnswer {
        SlotAnswer(
            status: status,
            epoch: epoch,
            nonce: nonce,
            outcome: outcome,
            head: head,
            starts: starts,
            changes: changes
        )
    }
}

// MARK: - In a message

extension WireAnswer {
    //     0  status, epoch, nonce, outcome?, state, [start], changes
    //     1  way, epoch, nonce, outcome?, state, [start], given
    //     2  [equal | objects | parts]?
    //     3  as 0, to what was given back
    //     4  [(client, serial, milliseconds since 1970)?]

    private static let exchangeKind: UInt8 = 0
    private static let recoveryKind: UInt8 = 1
    private static let comparisonKind: UInt8 = 2
    private static let restorationKind: UInt8 = 3
    private static let lastChangesKind: UInt8 = 4

    var frame: WireFrame {
        var writer = WireWriter()
        switch self {
        case .exchange(let answer):
            answer.write(to: &writer)
            return WireFrame(kind: Self.exchangeKind, body: writer.bytes, readCost: 0)
        case .recovery(let answer):
            writer.byte(answer.way.code)
            writer.epoch(answer.epoch)
            writer.number(answer.nonce)
            writer.optional(answer.outcome) { $0.outcome($1) }
            writer.state(answer.state)
            writer.starts(answer.starts)
            writer.number(answer.givenCount)
            return WireFrame(kind: Self.recoveryKind, body: writer.bytes)
        case .comparison(let answers):
            writer.optional(answers) { writer, answers in writer.list(answers) { $0.span($1) } }
            return WireFrame(kind: Self.comparisonKind, body: writer.bytes, readCost: 0)
        case .restoration(let answer):
            answer.write(to: &writer)
            return WireFrame(kind: Self.restorationKind, body: writer.bytes, readCost: 0)
        case .lastChanges(let changes):
            writer.list(changes) { writer, change in
                writer.optional(change) { writer, change in
                    writer.client(change.client)
                    writer.number(change.serial)
                    writer.number(change.millisecondsSince1970)
                }
            }
            return WireFrame(kind: Self.lastChangesKind, body: writer.bytes, readCost: 0)
        }
    }

    /// Reads an answer.
    ///
    /// - Throws: ``ReplicationError/malformedMessage(reason:)``.
    init(_ frame: WireFrame) throws(ReplicationError) {
        var reader = WireReader(frame)
        switch frame.kind {
        case Self.exchangeKind: self = .exchange(try PackedAnswer(from: &reader))
        case Self.restorationKind: self = .restoration(try PackedAnswer(from: &reader))
        case Self.recoveryKind:
            self = .recovery(
                RecoveryAnswer(
                    way: try .init(code: reader.byte()),
                    epoch: try reader.epoch(),
                    nonce: try reader.nonce(),
                    outcome: try reader.outcome(),
                    state: try reader.state(),
                    starts: try reader.starts(),
                    givenCount: try reader.number()
                )
            )
        case Self.comparisonKind:
            self = .comparison(
                try reader.optional { reader throws(ReplicationError) in
                    try reader.list(countMax: WireReader.rangeCountMax) {
                        reader throws(ReplicationError) in
                        try reader.span()
                    }
                }
            )
        case Self.lastChangesKind:
            self = .lastChanges(
                try reader.list(countMax: WireRequest.askedMax) { reader throws(ReplicationError) in
                    try reader.optional { reader throws(ReplicationError) in
                        LastChange(
                            client: try reader.client(),
                            serial: try reader.number(),
                            millisecondsSince1970: try reader.number()
                        )
                    }
                }
            )
        default: throw WireReader.malformed("there is no answer \(frame.kind)")
        }
        try reader.finish()
    }
}

extension PackedAnswer {
    fileprivate func write(to writer: inout WireWriter) {
        writer.byte(answer.status.code)
        writer.epoch(answer.epoch)
        writer.number(answer.nonce)
        writer.optional(answer.outcome) { $0.outcome($1) }
        writer.state(answer.head)
        writer.starts(answer.starts)
        changes.write(to: &writer)
    }

    fileprivate init(from reader: inout WireReader) throws(ReplicationError) {
        answer = SlotAnswer(
            status: try .init(code: reader.byte()),
            epoch: try reader.epoch(),
            nonce: try reader.nonce(),
            outcome: try reader.outcome(),
            head: try reader.state(),
            starts: try reader.starts(),
            changes: [:]
        )
        changes = try PackedChanges(from: &reader)
    }
}

// MARK: - Words as numbers

/// A word that a message says as the number of its place.
private protocol WireWord: CaseIterable, Equatable {}

extension WireWord {
    fileprivate var code: UInt8 {
        UInt8(Self.allCases.enumerated().first { $0.element == self }?.offset ?? 0)
    }

    fileprivate init(code: UInt8) throws(ReplicationError) {
        guard let word = Self.allCases.dropFirst(Int(code)).first else {
            throw WireReader.malformed("there is no word \(code)")
        }
        self = word
    }
}

extension SlotAnswer.Status: WireWord {}
extension RecoveryAnswer.Way: WireWord {}
extension Rejection.Reason: WireWord {}

// MARK: - Outcomes and ranges

extension WireWriter {

    fileprivate mutating func outcome(_ outcome: BatchOutcome) {
        number(outcome.sequence)
        fixed(outcome.name.number)
        switch outcome.result {
        case .accepted: byte(0)
        case .rejected(let rejections):
            byte(1)
            list(rejections) { writer, rejection in
                writer.key(rejection.key)
                writer.byte(rejection.reason.code)
            }
        }
    }

    fileprivate mutating func span(_ answer: SpanAnswer) {
        switch answer {
        case .equal: byte(0)
        case .objects(let objects):
            byte(1)
            list(objects.sorted { $0.key < $1.key }) { writer, object in
                writer.key(object.key)
                writer.object(object.value)
            }
        case .parts(let parts):
            byte(2)
            list(parts) { $0.range($1) }
        }
    }
}

extension WireReader {
    fileprivate mutating func outcome() throws(ReplicationError) -> BatchOutcome? {
        try optional { reader throws(ReplicationError) in
            let (sequence, name) = (try reader.number(), try reader.fixed(UInt32.self))
            return BatchOutcome(
                sequence: sequence,
                name: BatchName(name),
                result: try reader.result()
            )
        }
    }

    private mutating func result() throws(ReplicationError) -> BatchOutcome.Result {
        switch try byte() {
        case 0: return .accepted
        case 1:
            return .rejected(
                try list { reader throws(ReplicationError) in
                    try reader.take(memory: WireCost.entry)
                    let key = try reader.key()
                    return Rejection(key: key, reason: try .init(code: reader.byte()))
                }
            )
        default: throw Self.malformed("a batch has no such outcome")
        }
    }

    fileprivate mutating func span() throws(ReplicationError) -> SpanAnswer {
        switch try byte() {
        case 0: return .equal
        case 1:
            return .objects(
                try objects { reader throws(ReplicationError) in try reader.object() }
            )
        case 2: return .parts(try ranges())
        default: throw Self.malformed("a range has no such answer")
        }
    }
}
