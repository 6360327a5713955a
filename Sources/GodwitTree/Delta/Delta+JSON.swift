// A delta as a value, for people and programs that read JSON.
//
//   keep                      []
//   set, a scalar             the scalar
//   set, a list or a map      ["=", value]
//   map                       {key: delta, …}, a removed key ["-"]
//   list                      [{"-": [position, …], "=": [position, delta, …],
//                               ">": [source, target, …], "+": [position, value, …]}]
//   text                      ["~", offset, removed, inserted, …]
//   increment                 ["+", number]
//
// Positions ascend; a part that is empty is left out. For items next to each other that are removed
// or moved together, [position, count] stands in the place of their positions; of a run that moves,
// the target is the first.

extension Delta {
    /// How deep a delta's value may nest: a level of the document takes up to three of its own.
    public static let encodedDepthMax = 3 * Value.depthMax + 3

    /// The delta as data; ``init(encoded:budget:)`` reads it back.
    public var encoded: Value {
        switch self {
        case .keep: return .list([])
        case .set(let value):
            switch value {
            case .list, .map: return ["=", value]
            default: return value
            }
        case .map(let delta):
            let entries = delta.entries.map {
                Value.Map.Entry(key: $0.key, value: $0.change.encoded)
            }
            return .map(Value.Map(ascending: entries))
        case .list(let delta): return [.map(delta.parts.encoded)]
        case .text(let delta):
            let splices = delta.splices.flatMap {
                [Value(position: $0.offset), Value(position: $0.removed), .string($0.inserted)]
            }
            return .list(["~"] + splices)
        case .increment(let number): return ["+", .int(number)]
        }
    }

    /// Reads a delta from data, and checks all that can be checked without its base.
    ///
    /// - Throws: ``TreeError/invalidDelta(reason:)``, ``TreeError/tooDeep(limit:)`` or
    ///   ``TreeError/overBudget(_:limit:)``.
    public init(encoded value: Value, budget: ReadBudget = .standard) throws(TreeError) {
        var meter = ReadMeter(budget)
        try self.init(encoded: value, depthLeft: Value.depthMax, &meter)
    }

    /// - Parameter depthLeft: How many containers may still be nested where this delta applies.
    fileprivate init(
        encoded value: Value,
        depthLeft: Int,
        _ meter: inout ReadMeter
    ) throws(TreeError) {
        guard depthLeft >= 0 else { throw .tooDeep(limit: Value.depthMax) }
        guard case .list(let items) = value else {
            if case .map(let map) = value {
                self = .map(try MapDelta.entries(encoded: map, depthLeft: depthLeft, &meter))
            } else {
                self = .set(value)
            }
            return
        }
        switch (items.first, items.count) {
        case (nil, _): self = .keep
        case ("="?, 2): self = .set(try items[1].new(depthLeft: depthLeft))
        case (.map(let parts)?, 1):
            let parts = try ListDelta.Parts(encoded: parts, depthLeft: depthLeft, &meter)
            self = .list(try parts.recipe)
        case ("~"?, _):
            try meter.take(items.count, each: ReadCost.Part.splice)
            self = try .text(TextDelta.splices(encoded: items.dropFirst()))
        case ("+"?, 2):
            guard let number = items[1].integer else {
                throw .invalidDelta(reason: "an increment is not an integer")
            }
            self = .adding(number)
        default: throw .invalidDelta(reason: "a list that stands for no change")
        }
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
    fileprivate static func entries(
        encoded map: Value.Map,
        depthLeft: Int,
        _ meter: inout ReadMeter
    ) throws(TreeError) -> [Entry] {
        try meter.take(map.count, each: ReadCost.Part.entry)
        var entries: [Entry] = []
        for entry in map {
            guard entry.value != ["-"] else {
                entries.append(Entry(key: entry.key, change: .remove))
                continue
            }
            let delta = try Delta(encoded: entry.value, depthLeft: depthLeft - 1, &meter)
            entries.append(Entry(key: entry.key, change: .apply(delta)))
        }
        return entries
    }
}

extension TextDelta {
    fileprivate static func splices(
        encoded items: some Collection<Value>
    ) throws(TreeError) -> [Splice] {
        let items = Array(items)
        guard items.count.isMultiple(of: 3) else {
            throw .invalidDelta(reason: "a splice has an offset, a count and a text")
        }
        var splices: [Splice] = []
        for index in stride(from: 0, to: items.count, by: 3) {
            guard case .string(let inserted) = items[index + 2] else {
                throw .invalidDelta(reason: "what a splice puts in is not a string")
            }
            splices.append(
                Splice(
                    offset: try items[index].position,
                    removed: try items[index + 1].position,
                    inserted: inserted
                )
            )
        }
        return splices
    }
}

extension ListDelta.Parts {
    fileprivate var encoded: Value.Map {
        let parts: [(Key, [Value])] = [
            ("-", removes.map(Value.init(run:))),
            ("=", edits.flatMap { [Value(position: $0.position), $0.delta.encoded] }),
            (">", moves.flatMap { [Value(run: $0.sources), Value(position: $0.target)] }),
            ("+", inserts.flatMap { [Value(position: $0.position), $0.value] }),
        ]
        return Value.Map(parts.filter { !$0.1.isEmpty }.map { ($0.0, .list($0.1)) })
    }

    fileprivate init(
        encoded map: Value.Map,
        depthLeft: Int,
        _ meter: inout ReadMeter
    ) throws(TreeError) {
        let unknown = map.first { !Self.names.contains($0.key) }
        if let unknown { throw .invalidDelta(reason: "an unknown part \"\(unknown.key)\"") }
        self.init()
        for part in map {
            try meter.take(part.value.list?.count ?? 0, each: ReadCost.Part.move)
        }
        for item in try Self.items(map["-"]) { removes.append(try item.run) }
        for pair in try Self.pairs(map["="]) {
            let delta = try Delta(encoded: pair.1, depthLeft: depthLeft - 1, &meter)
            edits.append(ListDelta.Edit(position: try pair.0.position, delta: delta))
        }
        for pair in try Self.pairs(map[">"]) {
            let (run, target) = (try pair.0.run, try pair.1.position)
            moves.append(ListDelta.Move(source: run.lowerBound, target: target, count: run.count))
        }
        for pair in try Self.pairs(map["+"]) {
            let value = try pair.1.new(depthLeft: depthLeft - 1)
            inserts.append(ListDelta.Insert(position: try pair.0.position, value: value))
        }
    }

    fileprivate var recipe: ListRecipe {
        get throws(TreeError) {
            try ListDelta(removes: removes, moves: moves, inserts: inserts, edits: edits).recipe
        }
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
    /// This value, where it may nest so deep.
    fileprivate func new(depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft >= 0, isNested(within: depthLeft) else {
            throw .tooDeep(limit: Value.depthMax)
        }
        return self
    }

    fileprivate init(position: Int) { self = .int(Int64(position)) }

    fileprivate init(run: Range<Int>) {
        let position = Value(position: run.lowerBound)
        self = run.count == 1 ? position : [position, Value(position: run.count)]
    }

    fileprivate var run: Range<Int> {
        get throws(TreeError) {
            guard case .list(let items) = self else {
                let position = try position
                return position..<(position + 1)
            }
            guard items.count == 2 else {
                throw .invalidDelta(reason: "a run is not [position, count]")
            }
            let position = try items[0].position
            return position..<(position + (try items[1].position))
        }
    }

    fileprivate var position: Int {
        get throws(TreeError) {
            guard case .int(let int) = self, let position = Int(exactly: int),
                (0...ListDelta.positionMax).contains(position)
            else {
                throw .invalidDelta(reason: "a position is not a natural number")
            }
            return position
        }
    }
}
