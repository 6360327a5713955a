/// The search for values that a side removed, in its new values.
struct ArrivalSearch {
    private let side: Side
    /// The new values of the side that no other step has looked into.
    private let insertions: [Insertion]
    /// What the side removed and the other side left as it was.
    private let unedited: [Value]
    private let base: Value

    /// Equal numbers in lists of different things mean nothing.
    private static let namedScoreMin = 0.5
    private static let renamedScoreMin = 0.9
    private static let renamePairsMax = 4_000

    init(_ side: Side, _ insertions: [Insertion], unedited: [Value], of base: Value) {
        (self.side, self.unedited, self.base) = (side, unedited, base)
        self.insertions = insertions.filter { $0.side == side && $0.origin == nil }
    }

    func find(_ departures: [Departure]) {
        findContents(departures)
        findNames(missing(departures), inParts: true) { $0.usualName }
        let left = missing(departures).filter { $0.base.isFilled }
        guard !left.isEmpty else { return }
        // What the side only moved is no version of another value.
        let moved = Set(unedited.map(ItemContent.init))
        let others = Set(unedited.compactMap(\.uncounted))
        var counts: [ValuePath: [Value: Int]] = [:]
        func hasLookalike(_ departure: Departure) -> Bool {
            let container = ValuePath(departure.place.inBase.steps.dropLast())
            let found = counts[container] ?? uncountedCounts(in: container)
            counts[container] = found
            return departure.base.uncounted.flatMap { found[$0] } ?? 0 > 1
        }
        findNames(left, inParts: false, unless: hasLookalike) { value in
            if moved.contains(ItemContent(value)) { return nil }
            return value.uncounted.flatMap { others.contains($0) ? nil : $0 }
        }
        findRenames(missing(left), besides: moved)
    }

    private func missing(_ departures: [Departure]) -> [Departure] {
        departures.filter { $0.arrivals[side] == nil && $0.container?.isFound != true }
    }

    // MARK: By content

    private func findContents(_ departures: [Departure]) {
        let departures = departures.filter { $0.container?.isFound != true }
        let wanted = ListMatching.uniquePositions(of: departures.map { ItemContent($0.base) })
        var found: [ItemContent: [ArrivedItem]] = [:]
        for insertion in insertions where !insertion.isDestination {
            Self.walk(insertion.value, []) { value, path in
                guard value.isDistinctive || path.isEmpty && insertion.isItem else { return false }
                let content = ItemContent(value)
                guard wanted[content] != nil else { return false }
                found[content, default: []].append(
                    ArrivedItem(insertion: insertion, path: path, value: value)
                )
                return true
            }
        }
        for (content, arrivals) in found where arrivals.count == 1 {
            guard let index = wanted[content] else { continue }
            departures[index].arrivals[side] = arrivals[0]
            arrivals[0].insertion.noteArrival(at: arrivals[0].path)
        }
    }

    /// Calls `body` for a value and all in it; no deeper where it answers true.
    static func walk(
        _ value: Value,
        _ path: [ValuePath.Step],
        _ body: (Value, [ValuePath.Step]) -> Bool
    ) {
        if body(value, path) { return }
        switch value {
        case .map(let map):
            for entry in map { walk(entry.value, path + [.key(entry.key)], body) }
        case .list(let items):
            for (position, item) in items.enumerated() {
                walk(item, path + [.position(position)], body)
            }
        default: break
        }
    }

    // MARK: By name

    /// How many values in a container are equal but for their counters.
    private func uncountedCounts(in container: ValuePath) -> [Value: Int] {
        let parts = base.part(at: container)?.parts ?? []
        return parts.compactMap(\.value.uncounted).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// - Parameters:
    ///   - inParts: Whether to look also at what is in the new values.
    ///   - isDoubtful: Whether the name of a value that is found is that of others, too.
    private func findNames(
        _ departures: [Departure],
        inParts: Bool,
        unless isDoubtful: (Departure) -> Bool = { _ in false },
        _ name: (Value) -> Value?
    ) {
        let names = ListMatching.uniquePositions(of: departures.map { name($0.base) })
        guard !names.isEmpty else { return }
        var found: [Value: [ArrivedItem]] = [:]
        for insertion in insertions {
            Self.walk(insertion.value, []) { value, path in
                if insertion.hasArrival(at: path) { return true }
                guard let name = name(value), names[name] != nil else { return !inParts }
                found[name, default: []].append(
                    ArrivedItem(insertion: insertion, path: path, value: value)
                )
                return !inParts
            }
        }
        for (name, index) in names.sorted(by: { $0.value < $1.value }) {
            guard let arrivals = found[name], arrivals.count == 1 else { continue }
            let (departure, arrival) = (departures[index], arrivals[0])
            guard departure.base.isSurelyNamed || departure.base.areTextsKept(in: arrival.value),
                !arrival.insertion.hasArrivals(around: arrival.path)
            else { continue }
            let score = Resemblance(departure.base).score(with: Resemblance(arrival.value))
            if score >= Self.namedScoreMin, !isDoubtful(departure) { arrive(departure, arrival) }
        }
    }

    // MARK: Under another key

    private func findRenames(_ departures: [Departure], besides moved: Set<ItemContent>) {
        let new = insertions.filter {
            !$0.isDestination && $0.value.isFilled && !moved.contains(ItemContent($0.value))
        }
        let insertions = Dictionary(grouping: new, by: \.place.map)
        for (map, departures) in Dictionary(grouping: departures, by: \.place.map) {
            guard let map, var new = insertions[map],
                departures.count * new.count <= Self.renamePairsMax
            else { continue }
            var bags = new.map { Resemblance($0.value) }
            var rivals: [ObjectIdentifier: Rivals] = [:]
            for departure in departures where departure.base.isFilled {
                let bag = Resemblance(departure.base)
                let scores = bags.map { bag.score(with: $0) }
                guard let score = scores.max(), score >= Self.renamedScoreMin,
                    let index = scores.firstIndex(of: score),
                    scores.count(where: { $0 == score }) == 1
                else { continue }
                let value = new[index].value
                guard value.sharesRecords(with: departure.base) else { continue }
                let name = ObjectIdentifier(new[index])
                let known = rivals[name] ?? Rivals(of: value, among: base.part(at: map))
                rivals[name] = known
                if known.best(besides: departure.place.inBase.steps.last) >= score { continue }
                bags.remove(at: index)
                let insertion = new.remove(at: index)
                arrive(departure, ArrivedItem(insertion: insertion, path: [], value: value))
            }
        }
    }

    private func arrive(_ departure: Departure, _ arrival: ArrivedItem) {
        departure.arrivals[side] = arrival
        arrival.insertion.noteArrival(at: arrival.path)
    }
}

/// The records of a map in the base that are most like a new value.
private struct Rivals {
    private var first: (step: ValuePath.Step, score: Double)?
    private var second = 0.0

    init(of value: Value, among neighbours: Value?) {
        guard case .map(let new) = value, case .map(let neighbours)? = neighbours else { return }
        let bag = Resemblance(value)
        for other in neighbours {
            guard case .map(let fields) = other.value,
                2 * fields.count(where: { new[$0.key] == $0.value }) >= fields.count
            else { continue }
            let score = Resemblance(other.value).score(with: bag)
            if score > first?.score ?? -1 {
                second = max(second, first?.score ?? 0)
                first = (.key(other.key), score)
            } else {
                second = max(second, score)
            }
        }
    }

    /// How like the value the most similar record is, of those under other keys.
    func best(besides step: ValuePath.Step?) -> Double {
        guard let first, first.step != step else { return second }
        return first.score
    }
}

extension Value {
    fileprivate func part(at path: ValuePath) -> Value? {
        path.steps.reduce(self as Value?) { part, step in
            switch (part, step) {
            case (.map(let map)?, .key(let key)): map[key]
            case (.list(let list)?, .position(let position)) where list.indices.contains(position):
                list[position]
            default: nil
            }
        }
    }
}

/// The new values of a side that may be versions of those which it removed.
struct VersionSearch {
    private static let scoreMin = 0.5
    private static let countMax = 64
    private let bags: [Resemblance]
    /// The words, records and lists in the new values.
    private let contents: Set<ItemContent>
    /// The texts and the keys in them.
    private let words: Set<Key>

    init(_ side: Side, _ insertions: [Insertion]) {
        let own = insertions.filter { $0.side == side }
        let new = own.lazy.filter { $0.origin == nil && !$0.isDestination }
        bags = new.flatMap(\.value.containers).prefix(Self.countMax).map { Resemblance($0) }
        var contents: Set<ItemContent> = []
        func note(_ value: Value) {
            if value.isToken || value.isFilled { contents.insert(ItemContent(value)) }
            for part in value.parts { note(part.value) }
        }
        for insertion in own { note(insertion.value) }
        self.contents = contents
        words = Set(own.flatMap { [$0.place.key].compactMap(\.self) + $0.value.textsAndKeys })
    }

    /// Whether there is an equal word, record or list, or a record or a row may be there in another form.
    func contains(_ value: Value) -> Bool {
        contents.contains(ItemContent(value)) || !value.isScalar && hasWords(of: value)
    }

    /// Whether all texts of a record are there, as texts or as keys.
    private func hasWords(of record: Value) -> Bool {
        let texts = record.deepTexts
        return !texts.isEmpty && texts.allSatisfy(words.contains)
    }

    /// Whether one of them looks like a version of a value.
    func hasVersion(of value: Value) -> Bool {
        let bag = Resemblance(value)
        return bags.contains { bag.score(with: $0) >= Self.scoreMin }
    }
}

extension Value {
    /// The name of a record, by the strictest of the usual fields.
    var usualName: Value? {
        for key: Key in ["id", "_id", "uuid", "guid"] {
            if let name = self[key], name.isScalar, name != .null {
                return .list([.string(key), name])
            }
        }
        return nil
    }

    /// Whether the name is more than a number: lists may number their items each on its own.
    var isSurelyNamed: Bool {
        if case .list(let parts)? = usualName, case .int? = parts.last { false } else { true }
    }

    /// Whether another record with the same number as its name has all texts of this one, or its title.
    fileprivate func areTextsKept(in other: Value) -> Bool {
        let texts = texts
        if texts == other.texts { return true }
        if !texts.isEmpty, texts.allSatisfy({ other[$0.key] == $0.value }) { return true }
        return ["title", "name"].contains { (key: Key) in
            self[key]?.text?.isEmpty == false && self[key] == other[key]
        }
    }

    /// This value, and the records and lists in it.
    fileprivate var containers: [Value] {
        [self] + parts.flatMap { $0.value.containers.filter(\.isContainer) }
    }

    /// The texts in this value.
    var deepTexts: [Key] {
        if case .string(let text) = self { return text.isEmpty ? [] : [text] }
        return parts.flatMap(\.value.deepTexts)
    }

    /// The texts and the keys in this value.
    var textsAndKeys: [Key] {
        switch self {
        case .string(let text): [text]
        case .map(let map): map.flatMap { [$0.key] + $0.value.textsAndKeys }
        case .list(let items): items.flatMap(\.textsAndKeys)
        default: []
        }
    }

    /// The texts of a record, which a mere edit of numbers and marks leaves as they are.
    var texts: Map {
        guard case .map(let map) = self else { return [:] }
        return Map(
            map.compactMap { entry in
                if case .string = entry.value { (entry.key, entry.value) } else { nil }
            }
        )
    }

    /// A record without a name of its own, as it is when all its counters stand at zero; nil where
    /// nothing but numbers would tell it apart.
    fileprivate var uncounted: Value? {
        guard isFilled, usualName == nil, hasText else { return nil }
        return zeroed
    }

    private var zeroed: Value {
        switch self {
        case .int: 0
        case .map(let map): .map(Value.Map(map.map { ($0.key, $0.value.zeroed) }))
        case .list(let items): .list(Value.List(items.map(\.zeroed)))
        default: self
        }
    }

    private var hasText: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .map(let map): map.contains { $0.value.hasText }
        case .list(let items): items.contains(where: \.hasText)
        default: false
        }
    }
}
