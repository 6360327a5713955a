internal import GodwitStore
internal import GodwitTree

extension DeviceSlice {
    /// A request, its changes packed on the objects of the base.
    ///
    /// - Parameter server: What the server can read.
    func packed(
        _ request: DeviceRequest,
        for server: WireFeatures = .own
    ) throws(ReplicationError) -> ReplicaRequest {
        ReplicaRequest(
            client: client,
            request: request,
            message: try message(request, for: server),
            server: server
        )
    }

    private func message(
        _ request: DeviceRequest,
        for server: WireFeatures
    ) throws(ReplicationError) -> WireRequest {
        switch request {
        case .exchange(let request):
            let isCompressed = server.contains(.readsZstd)
            return .exchange(
                try PackedRequest(request, isCompressed: isCompressed) { key in pending[key]?.base }
            )
        case .recovery(let request): return .recovery(request)
        case .comparison(let state, let ranges): return .comparison(with: state, ranges)
        case .restoration(let request): return .restoration(request)
        }
    }

    /// The answer to an exchange, or to what was given back.
    func unpacked(
        _ answer: PackedAnswer,
        isToBatch: Bool
    ) throws(ReplicationError) -> SlotAnswer {
        let batch = isToBatch && answer.status == .accepted ? frozen : []
        let rows = Dictionary(uniqueKeysWithValues: batch.map { ($0.key, $0.row) })
        return try answer.unpacked { key throws(ReplicationError) in
            if let row = rows[key] { return try row.frozen.applied(to: row.base) }
            return pending[key].map(\.base) ?? objects[key]
        }
    }
}
