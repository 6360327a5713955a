import GodwitStore
import GodwitTree

@testable import GodwitReplication

/// A request, what was read for it, and what was decided.
struct WorldTurn {
    let answer: WireAnswer
    var reads: LineReads?
    var slice: LineSlice?
    var writes: LineWrites?

    /// Whether a piece of what a client gives back is kept or applied, and pieces before it are not there.
    func takesPieceAlone(of message: WireRequest) -> Bool {
        guard case .restoration(let request) = message, let writes else { return false }
        if case .none = writes.staging { return false }
        return request.start > slice?.staging?.count ?? 0
    }
}

/// What a turn has read and written.
struct ServedTurn {
    let turn: WorldTurn
    /// Whether nothing had been written in between.
    let isCurrent: Bool
    let isDone: Bool

    init(_ turn: WorldTurn, isCurrent: Bool, isDone: Bool) {
        self.turn = turn
        self.isCurrent = isCurrent
        self.isDone = isDone
    }
}

extension WireRequest {
    /// Decides on what is read from a line.
    func turn(
        _ machine: LineMachine,
        _ line: LineModel,
        from client: ClientID,
        changedMax: Int = .max,
        newEpoch: Epoch
    ) throws -> WorldTurn {
        if case .comparison(let state, var request) = self {
            guard let objects = try line.objects(in: state) else {
                return WorldTurn(answer: .comparison(nil))
            }
            let sorted = SortedObjects(objects)
            // Where answers are small, the device has to ask again for most of the ranges.
            if changedMax < .max { request.ranges = Array(request.ranges.prefix(2)) }
            let answers = RangeMachine.answers(to: request, sorted)
            return WorldTurn(answer: .comparison(answers))
        }
        guard let reads = reads(for: client, changedMax: changedMax) else {
            preconditionFailure("All others read")
        }
        let slice = line.load(reads)
        let decision = try machine.decide(self, from: client, slice) { newEpoch }
        return WorldTurn(
            answer: decision.answer,
            reads: reads,
            slice: slice,
            writes: decision.writes
        )
    }

    /// The request as the server reads it.
    func transmitted(from client: ClientID) throws -> WireRequest {
        let bytes = frame.bytes(for: .own)
        return try WireRequest(WireFrame(bytes: bytes, budget: .standard), from: client)
    }
}

extension WireAnswer {
    /// The answer as the device reads it.
    var transmitted: WireAnswer {
        get throws {
            try WireAnswer(WireFrame(bytes: frame.bytes(for: .own), budget: .standard))
        }
    }
}

extension LineModel {
    /// The values of all objects in the head.
    var values: [VersionedValue] { objects.values.compactMap(\.value) }

    mutating func commit(_ writes: LineWrites?, decidedOn slice: LineSlice?) throws -> Bool {
        guard let writes, let slice else { return true }
        return try commit(writes, decidedOn: slice)
    }

    /// The objects of a state that is kept.
    func objects(in state: LineState) throws -> [ObjectKey: VersionedValue]? {
        guard state == .root || states[state.serial] == state.id else { return nil }
        return try objects.compactMapValues { try $0.value(at: state.serial) }
    }
}
