// A delta as a value, so that it is stored as CBOR and read as JSON by the same code.
//
//   keep                      []
//   set, a scalar             the scalar
//   set, a list or a map      ["=", value]
//   map                       {key: delta, …}, a removed key ["-"]
//   list                      [{"-": [position, …], "=": [position, delta, …],
//                               ">": [source, target, …], "+": [position, value, …]}]
//
// Positions ascend; a part that is empty is left out.

extension Delta {
    /// How deep a delta's value may nest: a level of the document takes up to three of its own.
    public static let encodedDepthMax = 3 * Value.depthMax + 3

    /// The delta as data; ``init(encoded:)`` reads it back.
    public var encoded: Value {
        switch self {
        case .keep: .list([])
        case .set(let value):
            switch value {
            case .list, .map: ["=", value]
            default: value
            }
        case .map(let delta):
            .map(Value.Map(delta.canonical.map { ($0.key, $0.change.encoded) }))
        case .list(let delta): [.map(delta.encoded)]
        }
    }

    /// Reads a delta from data, and checks all that can be checked without its base.
    ///
    /// - Throws: ``TreeError/invalidDelta(reason:)``.
    public init(encoded value: Value) throws(TreeError) {
        switch value {
        case .map(let map):
            self = .map(try MapDelta.changes(encoded: map))
        case .list(let items):
            switch (items.first, items.count) {
            case (nil, 0): self = .keep
            case ("="?, 2): self = .set(items[1])
            case (.map(let parts)?, 1):
                let delta = try ListDelta(encoded: parts)
                self = delta.isEmpty ? .keep : .list(delta)
            default: throw .invalidDelta(reason: "a list that stands for no change")
            }
        default:
            self = .set(value)
        }
    }

    /// The bytes in which a delta is stored and sent.
    public var canonicalBytes: [UInt8] { encoded.canonicalBytes }

    /// Reads a delta from its stored bytes.
    public init(canonicalBytes bytes: [UInt8]) throws(TreeError) {
        try self.init(
            encoded: Value(canonicalBytes: bytes, depthMax: Self.encodedDepthMax)
        )
    }
}

extension MapDelta.Change {
    fileprivate var encoded: Value {
        switch self {
        case .remove: ["-"]
        case .apply(let delta): delta.encoded
        }
    }
}

extension MapDelta {
    fileprivate static func changes(encoded map: Value.Map) throws(TreeError) -> [Key: Change] {
        var changes: [Key: Change] = [:]
        for entry in map {
            let isRemove = entry.value == ["-"]
            changes[entry.key] = isRemove ? .remove : .apply(try Delta(encoded: entry.value))
        }
        return changes
    }
}

extension ListDelta {
    fileprivate var encoded: Value.Map {
        let parts: [(Key, [Value])] = [
            ("-", removes.map(Value.init(position:))),
            ("=", edits.flatMap { [Value(position: $0.position), $0.delta.encoded] }),
            (">", moves.flatMap { [Value(position: $0.source), Value(position: $0.target)] }),
            ("+", inserts.flatMap { [Value(position: $0.position), $0.value] }),
        ]
        return Value.Map(parts.filter { !$0.1.isEmpty }.map { ($0.0, .list($0.1)) })
    }

    fileprivate init(encoded map: Value.Map) throws(TreeError) {
        let unknown = map.first { !["-", "=", ">", "+"].contains($0.key) }
        if let unknown { throw .invalidDelta(reason: "an unknown part \"\(unknown.key)\"") }
        var removes: [Int] = []
        for item in try Self.items(map["-"]) { removes.append(try item.position) }
        var edits: [Edit] = []
        for pair in try Self.pairs(map["="]) {
            edits.append(Edit(position: try pair.0.position, delta: try Delta(encoded: pair.1)))
        }
        var moves: [Move] = []
        for pair in try Self.pairs(map[">"]) {
            moves.append(Move(source: try pair.0.position, target: try pair.1.position))
        }
        var inserts: [Insert] = []
        for pair in try Self.pairs(map["+"]) {
            inserts.append(Insert(position: try pair.0.position, value: pair.1))
        }
        try self.init(removes: removes, moves: moves, inserts: inserts, edits: edits)
    }

    private static func items(_ value: Value?) throws(TreeError) -> [Value] {
        guard let value else { return [] }
        guard case .list(let items) = value else {
            throw .invalidDelta(reason: "a part of a list's delta is not a list")
        }
        return Array(items)
    }

    private static func pairs(_ value: Value?) throws(TreeError) -> [(Value, Value)] {
        let items = try items(value)
        guard items.count.isMultiple(of: 2) else {
            throw .invalidDelta(reason: "a position without its other half")
        }
        return stride(from: 0, to: items.count, by: 2).map { (items[$0], items[$0 + 1]) }
    }
}

extension Value {
    fileprivate init(position: Int) { self = .int(Int64(position)) }

    fileprivate var position: Int {
        get throws(TreeError) {
            guard case .int(let int) = self, let position = Int(exactly: int) else {
                throw .invalidDelta(reason: "a position is not an integer")
            }
            return position
        }
    }
}
