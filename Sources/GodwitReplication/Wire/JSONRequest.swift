internal import GodwitStore
internal import GodwitTree

/// An exchange as JSON says it: for clients that are no Godwit device, such as a page in a browser.
///
/// Its changes wait for the objects of the client's state: they become deltas on these.
struct JSONRequest {
    private let nonce: Int64
    /// The place of the client's state in the line; 0 for no objects.
    let serial: Int64
    private let have: StateToken
    private let batch: (sequence: Int64, name: BatchName)?
    private let changes: [ObjectKey: JSONChange]

    /// The objects that the batch changes.
    var keys: Set<ObjectKey> { Set(changes.keys) }
    var carriesChanges: Bool { batch != nil }

    /// How many canonical bytes the objects of a batch have at most, after their changes: they are in the answer,
    /// too.
    static let targetSizeMax = 32 << 20

    /// Reads a request.
    ///
    /// - Parameter budget: What may be spent to read a patch.
    /// - Throws: ``ReplicationError/malformedMessage(reason:)``.
    init(json: Value, budget: ReadBudget) throws(ReplicationError) {
        var fields = try JSONFields(json, of: "the request")
        nonce = try fields.integer("nonce", in: 1...Int64.max)
        (serial, have) = try Self.state(fields.fields("state"))
        guard var batch = try fields.fields("batch") else {
            (self.batch, changes) = (nil, [:])
            try fields.finish()
            return
        }
        self.batch = (
            try batch.integer("sequence", in: 1...Int64.max),
            BatchName(UInt32(try batch.integer("name", in: 0...Int64(UInt32.max))))
        )
        var changes: [ObjectKey: JSONChange] = [:]
        for item in try batch.list("changes") {
            let (key, change) = try JSONChange.read(item, budget)
            guard changes.updateValue(change, forKey: key) == nil else {
                throw JSONFields.malformed("an object is there twice")
            }
        }
        self.changes = changes
        try batch.finish()
        try fields.finish()
    }
}

extension JSONRequest {
    private static func state(
        _ fields: JSONFields?
    ) throws(ReplicationError) -> (serial: Int64, have: StateToken) {
        guard var fields else { return (0, .none) }
        let serial = try fields.integer("serial", in: 0...Int64.max)
        let digits = try fields.text("token")
        guard let token = [UInt8](hex: digits).flatMap(StateToken.init(bytes:)) else {
            throw JSONFields.malformed("\"token\" is not one that this server has given")
        }
        try fields.finish()
        return (serial, token)
    }

    /// The request with a batch that changes nothing.
    func unopened(for client: ClientID) -> LineRequest {
        request(for: client, check: Batch.check(of: .zero), [:])
    }

    /// The request itself.
    ///
    /// - Parameter object: An object of the client's state.
    /// - Throws: ``ReplicationError/invalidDelta(reason:)`` if a patch does not fit its object.
    func opened(
        for client: ClientID,
        budget: ReadBudget,
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) -> LineRequest {
        var (deltas, sum, size) = ([ObjectKey: ObjectDelta](), SetHash.zero, 0)
        for (key, change) in changes {
            let old = try object(key)
            guard let delta = try change.delta(on: old, budget: budget) else { continue }
            deltas[key] = delta
            guard let target = try delta.applied(to: old) else { continue }
            // A few bytes of a patch may copy much.
            size += target.value.canonicalBytes.count
            guard size <= Self.targetSizeMax else {
                throw .overBudget(reason: "the objects of a batch have 32 MiB at most")
            }
            sum += CollectionSum.hash(of: target, at: key)
        }
        return request(for: client, check: Batch.check(of: sum), deltas)
    }

    private func request(
        for client: ClientID,
        check: UInt32,
        _ deltas: [ObjectKey: ObjectDelta]
    ) -> LineRequest {
        let batch = batch.map { sequence, name in
            Batch(sequence: sequence, name: name, check: check, changes: deltas)
        }
        let slot = Slot(serial: serial, have: have, former: nil, batch: batch)
        return LineRequest(client: client, nonce: nonce, slot: slot)
    }
}

/// The change of one object: its new value, a merge patch, a JSON Patch, or its removal.
private enum JSONChange {
    case remove
    case set(Value, version: Int?)
    case merge(Value, version: Int?)
    case patch(JSONPatch)

    static func read(
        _ json: Value,
        _ budget: ReadBudget
    ) throws(ReplicationError) -> (ObjectKey, JSONChange) {
        var fields = try JSONFields(json, of: "a change")
        let key = ObjectKey(
            collection: Key(try fields.text("collection")),
            key: Key(try fields.text("key"))
        )
        let version = try fields.optionalInteger("version", in: 1...Int64(Int32.max)).map(Int.init)
        let forms = ["value", "merge", "patch", "removed"].filter { fields.has($0) }
        guard forms.count == 1, let form = forms.first else {
            throw JSONFields.malformed(
                "a change has one of \"value\", \"merge\", \"patch\" and \"removed\": \(key)"
            )
        }
        let content = fields.value(form)
        try fields.finish()
        switch form {
        case "value": return (key, .set(content.untaggingBytes, version: version))
        case "merge": return (key, .merge(content.untaggingBytes, version: version))
        case "patch": return (key, .patch(try Self.patch(content.untaggingBytes, budget)))
        default:
            guard content == .bool(true) else {
                throw JSONFields.malformed("\"removed\" is true, or is not there")
            }
            return (key, .remove)
        }
    }

    /// - Throws: ``ReplicationError/malformedMessage(reason:)`` also for a place that is deeper than any value.
    private static func patch(
        _ json: Value,
        _ budget: ReadBudget
    ) throws(ReplicationError) -> JSONPatch {
        for operation in json.list ?? [] {
            for field: Key in ["path", "from"] {
                let steps = operation[field]?.text?.utf8.count { $0 == UInt8(ascii: "/") } ?? 0
                guard steps <= Value.depthMax else {
                    throw JSONFields.malformed("a patch names a place that is too deep")
                }
            }
        }
        return try refusing { () throws(TreeError) in try JSONPatch(json, budget: budget) }
    }

    /// nil if the object is like that already.
    func delta(
        on old: VersionedValue?,
        budget: ReadBudget
    ) throws(ReplicationError) -> ObjectDelta? {
        switch self {
        case .remove: return old == nil ? nil : .removed
        case .set(let value, let version):
            return .diff(old, VersionedValue(value, version: version ?? old?.version ?? 1))
        case .merge(let patch, let version):
            let version = version ?? old?.version ?? 1
            let base = old?.value ?? .null
            guard old?.version == version else {
                let value = try refusing { () throws(TreeError) in
                    try base.applying(mergePatch: patch)
                }
                return .diff(old, VersionedValue(value, version: version))
            }
            return try edit(version) { () throws(TreeError) in
                try Delta(mergePatch: patch, on: base)
            }
        case .patch(let patch):
            guard let old else {
                throw .invalidDelta(reason: "there is no object to patch: send its value")
            }
            return try edit(old.version) { () throws(TreeError) in
                try patch.delta(on: old.value, budget: budget)
            }
        }
    }

    private func edit(
        _ version: Int,
        _ body: () throws(TreeError) -> Delta
    ) throws(ReplicationError) -> ObjectDelta? {
        let delta = try refusing(body)
        return delta == .keep ? nil : ObjectDelta(.apply(delta), version: version)
    }
}
