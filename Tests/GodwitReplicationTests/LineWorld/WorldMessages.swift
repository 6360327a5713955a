import GodwitStore
import GodwitTree

@testable import GodwitReplication

/// A request, what was read for it, and what was decided.
struct WorldTurn {
    let answer: DeviceAnswer
    var reads: LineReads?
    var slice: LineSlice?
    var writes: LineWrites?
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

extension DeviceRequest {
    /// Decides on what is read from a line.
    func turn(
        _ machine: LineMachine,
        _ line: LineModel,
        newEpoch: Epoch
    ) throws -> WorldTurn {
        switch self {
        case .exchange(let request):
            let reads = LineMachine.reads(request)
            let slice = line.load(reads)
            let decision = try machine.decide(request, slice)
            return WorldTurn(.exchange(decision.answer), reads, slice, decision.writes)
        case .recovery(let request):
            let reads = LineMachine.reads(request)
            let slice = line.load(reads)
            let decision = machine.decide(request, slice, newEpoch: newEpoch)
            return WorldTurn(.recovery(decision.answer), reads, slice, decision.writes)
        case .restoration(let request):
            let reads = LineMachine.reads(request)
            let slice = line.load(reads)
            let decision = try machine.decide(request, slice)
            return WorldTurn(.restoration(decision.answer), reads, slice, decision.writes)
        case .comparison(let state, let ranges):
            guard let objects = try line.objects(in: state) else {
                return WorldTurn(answer: .comparison(nil))
            }
            let sorted = SortedObjects(objects)
            return WorldTurn(answer: .comparison(ranges.map { RangeMachine.answer($0, sorted) }))
        }
    }
}

extension WorldTurn {
    fileprivate init(
        _ answer: DeviceAnswer,
        _ reads: LineReads,
        _ slice: LineSlice,
        _ writes: LineWrites?
    ) {
        self.init(answer: answer, reads: reads, slice: slice, writes: writes)
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
