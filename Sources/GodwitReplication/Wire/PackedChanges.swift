internal import GodwitStore
internal import GodwitTree

/// Changes of objects in a message: each is packed for a peer that has the object as it was before.
///
/// The reader of a message has to look up these objects, so the changes are unpacked later.
struct PackedChanges: Hashable, Sendable {
    /// The change of one object.
    private enum Change: Hashable, Sendable {
        case removed
        /// The whole object, which needs no other.
        case whole(version: Int, [UInt8])
        case edited(version: Int, [UInt8])
    }

    private var changes: [ObjectKey: Change] = [:]
    /// Objects whose changes may have reached the server before.
    private(set) var doubtful: Set<ObjectKey> = []
    /// What is left of the message's budget, for what the changes take when they are unpacked.
    private var budget = ReadBudget.standard

    /// What their reader takes off its budget, in bytes of memory.
    var readCost: Int { ReadBudget.standard.memoryMax - budget.memoryMax }

    static let none = PackedChanges()

    private init() {}
}

// MARK: - Packing

extension PackedChanges {
    /// Packs changes for a peer.
    ///
    /// - Parameters:
    ///   - object: An object as the peer has it.
    ///   - isCompressed: Whether the peer reads compressed bytes.
    /// - Throws: ``ReplicationError/overBudget(reason:)`` for a change that the peer does not read.
    init(
        _ changes: [ObjectKey: ObjectDelta],
        doubtful: Set<ObjectKey> = [],
        isCompressed: Bool = Zstandard.isAvailable,
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) {
        self.doubtful = doubtful.intersection(changes.keys)
        var meter = ReadMeter(budget)
        for (key, delta) in changes {
            let change = try Self.packed(delta, isCompressed, &meter) {
                () throws(ReplicationError) in
                try object(key)
            }
            self.changes[key] = change
            try refusing { () throws(TreeError) in
                try meter.take(memory: Self.cost(of: change, at: key))
            }
        }
        budget = meter.left
    }

    private static func packed(
        _ delta: ObjectDelta,
        _ isCompressed: Bool,
        _ meter: inout ReadMeter,
        on object: () throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) -> Change {
        guard case .apply(let change) = delta.change else { return .removed }
        var packing = Delta.Packing()
        guard !delta.isWhole else {
            // Many new objects are compressed together, as one message.
            packing.isCompressed = false
            return .whole(version: delta.version, try bytes(of: change, on: .null, packing, &meter))
        }
        guard let base = try object() else {
            throw .invalidDelta(reason: "there is no object to edit")
        }
        packing.isCompressed = isCompressed
        let bytes = try bytes(of: change, on: base.value, packing, &meter)
        return .edited(version: delta.version, bytes)
    }

    private static func bytes(
        of delta: Delta,
        on base: Value,
        _ packing: Delta.Packing,
        _ meter: inout ReadMeter
    ) throws(ReplicationError) -> [UInt8] {
        try refusing { () throws(TreeError) in try delta.packed(on: base, packing, meter: &meter) }
    }

    /// What the entry of a change takes before it is unpacked.
    private static func cost(of change: Change, at key: ObjectKey) -> Int {
        let size =
            switch change {
            case .removed: 0
            case .whole(_, let bytes), .edited(_, let bytes): bytes.count
            }
        return WireCost.entry + WireCost.text(key.key.text.utf8.count) + WireCost.text(size)
    }
}

// MARK: - Unpacking

extension PackedChanges {
    var keys: Set<ObjectKey> { Set(changes.keys) }

    /// The changes themselves.
    ///
    /// - Parameter object: An object as the sender expects it here.
    /// - Throws: ``ReplicationError/invalidDelta(reason:)`` when the objects here are others.
    func unpacked(
        on object: (ObjectKey) throws(ReplicationError) -> VersionedValue?
    ) throws(ReplicationError) -> [ObjectKey: ObjectDelta] {
        var deltas: [ObjectKey: ObjectDelta] = [:]
        var meter = ReadMeter(budget)
        for (key, change) in changes {
            switch change {
            case .removed: deltas[key] = .removed
            case .whole(let version, let bytes):
                let delta = try Self.delta(bytes, on: .null, &meter)
                guard case .set = delta else {
                    throw .invalidDelta(reason: "a whole object is set")
                }
                deltas[key] = ObjectDelta(.apply(delta), version: version)
            case .edited(let version, let bytes):
                guard let base = try object(key), base.version == version else {
                    throw .invalidDelta(reason: "there is no object of version \(version)")
                }
                let delta = try Self.delta(bytes, on: base.value, &meter)
                deltas[key] = ObjectDelta(.apply(delta), version: version)
            }
        }
        return deltas
    }

    private static func delta(
        _ bytes: [UInt8],
        on base: Value,
        _ meter: inout ReadMeter
    ) throws(ReplicationError) -> Delta {
        try refusing { () throws(TreeError) in try Delta(packed: bytes, on: base, meter: &meter) }
    }
}

// MARK: - In a message

extension PackedChanges {
    // collections: [name, [key, form | doubtful << 2 | version << 3, bytes of the change]]

    private static let removedForm: Int64 = 0
    private static let wholeForm: Int64 = 1
    private static let editedForm: Int64 = 2
    private static let doubtfulBit: Int64 = 4
    private static let versionShift: Int64 = 3

    func write(to writer: inout WireWriter) {
        let collections = Dictionary(grouping: changes.keys, by: \.collection)
        let names = collections.keys.sorted()
        writer.list(names) { writer, name in
            writer.text(name)
            writer.list((collections[name] ?? []).sorted()) { writer, key in
                writer.text(key.key)
                write(key, to: &writer)
            }
        }
    }

    private func write(_ key: ObjectKey, to writer: inout WireWriter) {
        let bit = doubtful.contains(key) ? Self.doubtfulBit : 0
        func head(_ form: Int64, _ version: Int) {
            writer.number(form | bit | Int64(version) << Self.versionShift)
        }
        switch changes[key] {
        case nil, .removed?: head(Self.removedForm, 0)
        case .whole(let version, let bytes)?:
            head(Self.wholeForm, version)
            writer.block(bytes)
        case .edited(let version, let bytes)?:
            head(Self.editedForm, version)
            writer.block(bytes)
        }
    }

    init(from reader: inout WireReader) throws(ReplicationError) {
        for _ in 0..<(try reader.count()) {
            let name = try reader.text()
            for _ in 0..<(try reader.count()) {
                let key = ObjectKey(collection: name, key: try reader.text())
                try reader.take(memory: WireCost.entry)
                guard changes[key] == nil else {
                    throw WireReader.malformed("an object is there twice")
                }
                let head = try reader.number()
                if head & Self.doubtfulBit != 0 { doubtful.insert(key) }
                changes[key] = try Self.change(head, &reader)
            }
        }
        budget = reader.budget
    }

    private static func change(
        _ head: Int64,
        _ reader: inout WireReader
    ) throws(ReplicationError) -> Change {
        let version = head >> versionShift
        switch head & (doubtfulBit - 1) {
        case removedForm where version == 0: return .removed
        case wholeForm:
            return .whole(version: try WireReader.version(version), try bytes(&reader))
        case editedForm:
            return .edited(version: try WireReader.version(version), try bytes(&reader))
        default: throw WireReader.malformed("a change has no such form")
        }
    }

    private static func bytes(_ reader: inout WireReader) throws(ReplicationError) -> [UInt8] {
        let bytes = try reader.block()
        try reader.take(memory: WireCost.text(bytes.count))
        return bytes
    }
}
