public import GodwitTree

// Exchanges of clients that are no Godwit devices.

extension ReplicaServer {
    /// Answers an exchange in JSON, of a client that is no Godwit device, such as a page in a browser.
    ///
    /// The client names the state that it has, and brings its changes as values, merge patches (RFC 7386) or
    /// JSON Patches (RFC 6902); the answer has the objects that are new for it, and the state that they lead to.
    /// The server merges what diverged, as it does for a device, and takes a batch that is sent again once.
    /// Documentation/formats.md has all fields. The answer is durable when it is returned.
    ///
    /// - Parameters:
    ///   - json: The request's bytes.
    ///   - client: The client that has sent the request.
    ///   - name: The replica that it is about.
    ///   - admit: Called once the request is read: says what its sender may do, or throws.
    /// - Returns: The answer, for `Value.jsonText()`.
    /// - Throws: ``ReplicationError``, and what `admit` throws. The replica has not changed then.
    public func answer(
        json: [UInt8],
        from client: ClientID,
        of name: ReplicaName,
        admitting admit: (MessageScope) async throws -> ReplicaRight = { _ in .write }
    ) async throws -> Value {
        let budget = options.budget ?? WireCost.budget(forRequestOf: json.count)
        let request = try JSONRequest(json: Self.value(json, budget), budget: budget)
        let scope = MessageScope(
            client: client,
            former: nil,
            carriesChanges: request.carriesChanges
        )
        let machine = try await machine(for: name, scope, admit)
        var reads = request.reads(for: client)
        reads.changedMax = options.changedMax
        return try await turns.take(name) { [self, reads] in
            try await decide(reads, of: name) { slice in
                let decision = try machine.decide(request, from: client, slice, budget: budget)
                return (decision.answer.json, decision.writes)
            }
        }
    }

    private static func value(
        _ json: [UInt8],
        _ budget: ReadBudget
    ) throws(ReplicationError) -> Value {
        do throws(TreeError) {
            // An object has its place in the request, and may be wrapped.
            let depthMax = 2 * Value.depthMax + 8
            return try Value(javaScriptJSON: json, depthMax: depthMax, budget: budget)
        } catch .overBudget(let part, let limit) {
            throw .overBudget(reason: TreeError.overBudget(part, limit: limit).description)
        } catch {
            throw .malformedMessage(reason: error.description)
        }
    }
}
