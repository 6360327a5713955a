internal import GodwitStore
internal import GodwitTree

// Fields that several messages have.

extension WireWriter {
    mutating func client(_ client: ClientID) { fixed(client.identifier.bytes) }

    mutating func epoch(_ epoch: Epoch) { fixed(epoch.number) }

    mutating func state(_ state: LineState) {
        number(state.serial)
        fixed(state.id.bytes)
    }

    mutating func starts(_ starts: [LineStart]) {
        list(starts) {
            $0.fixed($1.start.number)
            $0.number($1.serial)
        }
    }

    mutating func range(_ range: SpanSum) {
        optional(range.span.lower) { $0.key($1) }
        optional(range.span.upper) { $0.key($1) }
        number(range.sum.count)
        fixed(range.sum.sum.bytes)
    }

    mutating func object(_ object: VersionedValue) {
        count(object.version)
        block(object.value.canonicalBytes)
    }
}

extension WireReader {
    /// How many states, or ranges, a list has at most.
    private static let stateCountMax = 1_024
    static let rangeCountMax = 256

    mutating func client() throws(ReplicationError) -> ClientID {
        guard let identifier = Identifier(bytes: try fixed(Identifier.sizeInBytes)) else {
            throw Self.malformed("a client has no id")
        }
        return ClientID(identifier)
    }

    mutating func epoch() throws(ReplicationError) -> Epoch { Epoch(try fixed(UInt64.self)) }

    mutating func state() throws(ReplicationError) -> LineState {
        let serial = try number()
        guard let id = StateID(bytes: try fixed(StateID.sizeInBytes)) else {
            throw Self.malformed("a state has no id")
        }
        return LineState(serial: serial, id: id)
    }

    mutating func states() throws(ReplicationError) -> [LineState] {
        try list(countMax: Self.stateCountMax) { reader throws(ReplicationError) in
            try reader.state()
        }
    }

    mutating func starts() throws(ReplicationError) -> [LineStart] {
        try list(countMax: LineStart.rememberedMax) { reader throws(ReplicationError) in
            let start = ServerStart(try reader.fixed(UInt32.self))
            return LineStart(start: start, serial: try reader.number())
        }
    }

    mutating func ranges() throws(ReplicationError) -> [SpanSum] {
        try list(countMax: Self.rangeCountMax) { reader throws(ReplicationError) in
            let lower = try reader.optional { reader throws(ReplicationError) in try reader.key() }
            let upper = try reader.optional { reader throws(ReplicationError) in try reader.key() }
            let count = try reader.number()
            guard let sum = SetHash(bytes: try reader.fixed(SetHash.sizeInBytes)) else {
                throw WireReader.malformed("a range has no sum")
            }
            let span = KeySpan(lower: lower, upper: upper)
            guard span.isCut(by: []) else {
                throw WireReader.malformed("a range ends before it begins")
            }
            return SpanSum(span, CollectionSum(count: count, sum: sum))
        }
    }

    mutating func object() throws(ReplicationError) -> VersionedValue {
        let version = try Self.version(number())
        return VersionedValue(try value(), version: version)
    }

    /// Objects by their keys, each with what `read` reads.
    mutating func objects<Object>(
        _ read: (inout WireReader) throws(ReplicationError) -> Object
    ) throws(ReplicationError) -> [ObjectKey: Object] {
        var objects: [ObjectKey: Object] = [:]
        for _ in 0..<(try count()) {
            try take(memory: WireCost.entry)
            let key = try key()
            guard objects.updateValue(try read(&self), forKey: key) == nil else {
                throw Self.malformed("an object is there twice")
            }
        }
        return objects
    }
}
