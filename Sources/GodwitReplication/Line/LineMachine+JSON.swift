internal import GodwitStore
internal import GodwitTree

extension JSONRequest {
    /// What the line reads to decide about the request.
    func reads(for client: ClientID) -> LineReads {
        LineReads(client: client, former: nil, base: serial, keys: keys)
    }
}

/// An answer in JSON, and what has to be durable before it leaves.
struct JSONDecision {
    let answer: JSONAnswer
    let writes: LineWrites?
}

extension LineMachine {
    /// Decides about one request: as about that of a device which brings the same changes.
    ///
    /// - Throws: ``ReplicationError/overBudget(reason:)`` if the replica has more objects than one answer takes,
    ///   ``ReplicationError/invalidDelta(reason:)`` if a patch does not fit its object.
    func decide(
        _ json: JSONRequest,
        from client: ClientID,
        _ slice: LineSlice,
        budget: ReadBudget
    ) throws(ReplicationError) -> JSONDecision {
        let turn = LineTurn(json.unopened(for: client), slice)
        if json.serial == 0, slice.isPartial {
            throw .overBudget(
                reason: "the replica has more objects, or larger ones, than one answer takes"
            )
        }
        let isReadable = turn.isFresh && turn.knowsBase && !slice.isPartial
        let request =
            isReadable
            ? try json.opened(for: client, budget: budget) { key throws(ReplicationError) in
                try turn.value(at: key)
            } : turn.request
        let decision = try decide(request, slice)
        let isAccepted = decision.answer.status == .accepted
        let batch = isAccepted ? request.slot.batch?.changes ?? [:] : [:]
        var objects: [ObjectKey: VersionedValue?] = [:]
        for key in Set(batch.keys).union(decision.answer.changes.keys) {
            let own = try batch[key].applied(to: turn.value(at: key))
            objects[key] = .some(try decision.answer.changes[key].applied(to: own))
        }
        return JSONDecision(answer: JSONAnswer(decision.answer, objects), writes: decision.writes)
    }
}
