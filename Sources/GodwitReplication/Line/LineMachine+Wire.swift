internal import GodwitStore
internal import GodwitTree

// Requests and answers with packed changes: they are unpacked once the objects are read on which they
// were packed.

extension PackedRequest {
    /// What the line reads to decide about the request.
    func reads(for client: ClientID) -> LineReads {
        LineReads(
            client: client,
            former: slot.former,
            base: slot.serial,
            keys: keys
        )
    }
}

/// An answer as it is sent, and what has to be durable before it leaves.
struct PackedDecision: Sendable {
    let answer: WireAnswer
    let writes: LineWrites?
}

extension LineMachine {
    /// Decides about one request.
    ///
    /// - Precondition: It is neither a comparison nor a question for last changes.
    /// - Parameters:
    ///   - peer: What the client can read.
    ///   - newEpoch: The epoch that the line gets if it has lost states.
    /// - Throws: ``ReplicationError/damagedHistory(reason:)`` when what is stored does not fit
    ///   together.
    func decide(
        _ request: WireRequest,
        from client: ClientID,
        _ slice: LineSlice,
        for peer: WireFeatures = .own,
        newEpoch: () -> Epoch
    ) throws -> PackedDecision {
        let isCompressed = peer.contains(.readsZstd)
        switch request {
        case .exchange(let packed):
            return try decide(packed, from: client, slice, isCompressed)
        case .recovery(let request):
            let decision = decide(request, slice, newEpoch: newEpoch())
            return PackedDecision(answer: .recovery(decision.answer), writes: decision.writes)
        case .restoration(let request): return try decidePacked(request, slice, isCompressed)
        case .comparison, .lastChanges: preconditionFailure("Nothing is decided about a question")
        }
    }

    private func decide(
        _ packed: PackedRequest,
        from client: ClientID,
        _ slice: LineSlice,
        _ isCompressed: Bool
    ) throws -> PackedDecision {
        let request = try opened(packed, from: client, slice)
        let decision =
            try request.map { try decide($0, slice) }
            ?? refusal(of: packed.unopened(for: client), slice)
        let turn = request.map { LineTurn($0, slice) }
        let isAccepted = decision.answer.status == .accepted
        let changes = isAccepted ? request?.slot.batch?.changes ?? [:] : [:]
        let answer = try PackedAnswer(decision.answer, isCompressed: isCompressed) {
            key throws(ReplicationError) in
            try changes[key].applied(to: turn?.value(at: key))
        }
        return PackedDecision(answer: .exchange(answer), writes: decision.writes)
    }

    /// The request; nil when its batch was made for other objects than its base has.
    private func opened(
        _ packed: PackedRequest,
        from client: ClientID,
        _ slice: LineSlice
    ) throws -> LineRequest? {
        let unopened = packed.unopened(for: client)
        let turn = LineTurn(unopened, slice)
        guard unopened.slot.batch != nil, turn.isFresh, turn.knowsBase, !slice.isPartial else {
            return unopened
        }
        do {
            return try packed.unpacked(for: client) { key throws(ReplicationError) in
                try turn.value(at: key)
            }
        } catch {
            switch error {
            case .damagedHistory, .overBudget: throw error
            default: return nil
            }
        }
    }

    private func refusal(of request: LineRequest, _ slice: LineSlice) -> LineDecision {
        var turn = LineTurn(request, slice)
        turn.peer.nonce = request.nonce
        return turn.answer(.unknownBase, writes: true)
    }

    private func decidePacked(
        _ request: RestorationRequest,
        _ slice: LineSlice,
        _ isCompressed: Bool
    ) throws -> PackedDecision {
        let decision = try decide(request, slice)
        let given = slice.given(with: request)
        let answer = try PackedAnswer(decision.answer, isCompressed: isCompressed) {
            key throws(ReplicationError) in
            if let object = given[key] { return object }
            return try slice.objects[key]?.value(at: request.comparedWith)
        }
        return PackedDecision(answer: .restoration(answer), writes: decision.writes)
    }
}
