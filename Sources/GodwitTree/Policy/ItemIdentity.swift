// How the items of a list are told apart.
//
//   (1) By a field whose value each item has, each its own, in every version of the list that is
//       looked at: of the usual names, whatever their case, the one that most items share
//       between the versions; else any other field whose values most items keep. Of two such fields, it
//       is the one whose values stay in their order, and then the one that is more than a text with other
//       numbers in each item: dates are exchanged and put off, names are not. A map in the item may have
//       that field if it holds the item's own fields, and no author or other thing. Numbers that count the
//       items in every version are places.
//   (2) By two fields together, where that is usual: an OpenAPI parameter is its name and place.
//   (3) A field whose values go to other items is none, whatever its name: if all else in the items
//       finds more of them again than the field does, they were numbered anew, or names changed places.
//       But names that stay in their order are names, and other values went to other items, if some came or
//       went between others and are texts of which none counts, or if the items have no words else: dates go
//       on, titles do not. So are such texts if all are there: a list that is lettered anew ends with another
//       letter. And a new item beside the one whose values it has is a copy of that.
//   (4) Under another name than the usual ones, a field is none before two items bear it out.
//   (5) The search looks at items that differ, and at their neighbours: never at the whole list.

/// The fields by which the items of a list are told apart.
struct ItemIdentity: Hashable, Sendable {
    /// The way to each field; more than one for a composite identity.
    let fields: [[Key]]

    /// The value of the identity in an item; nil where a field is missing or is no scalar.
    func name(of item: Value) -> Value? {
        if fields.count == 1 { return Self.scalar(at: fields[0], in: item) }
        var parts: [Value] = []
        for field in fields {
            guard let part = Self.scalar(at: field, in: item) else { return nil }
            parts.append(part)
        }
        return .list(parts)
    }

    private static func scalar(at field: [Key], in item: Value) -> Value? {
        var value = item
        for key in field {
            guard let next = value[key] else { return nil }
            value = next
        }
        switch value {
        case .null, .list, .map: return nil
        default: return value
        }
    }
}

// MARK: - Finding it

extension ItemIdentity {
    static let usualNames: [Key] = [
        "id", "_id", "uuid", "guid", "key", "name", "title", "slug", "sid", "code", "sku", "url",
        "path", "filename", "label",
    ]
    private static let composites: [[Key]] = [
        ["name", "in"], ["kind", "name"], ["namespace", "name"],
    ]

    /// The identity that tells the items of each of these lists apart; nil where there is none.
    ///
    /// - Parameter lists: An old list and a new one, or several such pairs.
    /// - Complexity: O(*n*) in the number of items, times that of their fields.
    init?(of lists: [[Value]]) {
        guard let first = lists.lazy.flatMap({ $0 }).first, case .map(let map) = first else {
            return nil
        }
        // A record of one field is what the field is: another value there is no other name.
        let isOneField = lists.joined().allSatisfy { $0.map?.count == 1 }
        if isOneField, let key = map.first?.key, !Self.isStrict(key) { return nil }
        for keys in Self.composites {
            let identity = ItemIdentity(fields: keys.map { [$0] })
            if identity.sharedNames(in: lists) != nil, !identity.isRefuted(by: lists) {
                self = identity
                return
            }
        }
        let candidates = Self.candidates(in: map)
        var best: (identity: ItemIdentity, order: (Int, Int))?
        var refuted = candidates.map(\.field).filter {
            ItemIdentity(fields: [$0]).numbersItems(of: lists)
        }
        for candidate in candidates {
            if let found = best, found.order.0 == 0, !candidate.isUsual { break }
            let identity = ItemIdentity(fields: [candidate.field])
            guard let shared = identity.sharedNames(in: lists),
                candidate.isUsual
                    || shared.count >= Self.sharedMin && identity.isKept(in: lists)
                        && !refuted.contains(candidate.field)
            else { continue }
            let order = (candidate.isUsual ? 0 : candidate.field.count, -shared.values.reduce(0, +))
            if let best, best.order < order { continue }
            if let best, best.order == order,
                best.identity.doubt(of: lists) <= identity.doubt(of: lists)
            {
                continue
            }
            if identity.isRefuted(by: lists, besides: refuted) {
                refuted.append(candidate.field)
            } else {
                best = (identity, order)
            }
        }
        guard let best else { return nil }
        self = best.identity
    }

    /// How many items of two lists have to share a field under no usual name.
    static let sharedMin = 2

    /// Names that people give twice.
    private static let looseNames: [Key] = ["name", "title", "label"]

    /// Whether this is a usual name, or a usual pair of them.
    var isUsual: Bool {
        guard fields.count == 1, let key = fields[0].last else { return true }
        return Self.isUsual(key)
    }

    static func isUsual(_ key: Key) -> Bool { rank(of: key) < usualNames.count }

    /// Whether this is a usual name that is given once.
    static func isStrict(_ key: Key) -> Bool {
        isUsual(key) && !looseNames.contains { $0.isSameName(as: key) }
    }

    /// Whether two records with this identity are surely one, if it is no number.
    var isStrict: Bool {
        guard fields.count == 1, let key = fields[0].last else { return true }
        return Self.isStrict(key)
    }

    /// A field that may be an identity.
    private struct Candidate {
        let field: [Key]
        /// The place of its name among the usual ones; their count for any other name.
        let rank: Int

        init(_ field: [Key], _ name: Key) {
            (self.field, rank) = (field, ItemIdentity.rank(of: name))
        }

        var isUsual: Bool { rank < ItemIdentity.usualNames.count }
    }

    /// The fields that may be an identity, with usual names first.
    private static func candidates(in item: Value.Map) -> [Candidate] {
        var candidates: [Candidate] = []
        for entry in item {
            if isUsable(entry.value, entry.key) {
                candidates.append(Candidate([entry.key], entry.key))
            }
            guard case .map(let inner) = entry.value, holdsOwnFields(entry.key, of: item)
            else { continue }
            for field in inner where isUsable(field.value, field.key) {
                candidates.append(Candidate([entry.key, field.key], field.key))
            }
        }
        return candidates.sorted { left, right in
            if left.rank != right.rank { return left.rank < right.rank }
            if left.field.count != right.field.count { return left.field.count < right.field.count }
            return left.field.lexicographicallyPrecedes(right.field)
        }
    }

    private static let wrappers: [Key] = [
        "properties", "metadata", "meta", "attributes", "fields", "data", "info", "node",
    ]
    private static let kinds: [Key] = ["type", "kind", "apiVersion"]

    /// Whether a field holds more fields of the item, as in GeoJSON, and not another thing that the item
    /// tells of, such as its author.
    private static func holdsOwnFields(_ key: Key, of item: Value.Map) -> Bool {
        wrappers.contains { $0.isSameName(as: key) }
            || item.allSatisfy { !$0.value.isScalar || kinds.contains($0.key) }
    }

    private static func rank(of key: Key) -> Int {
        usualNames.firstIndex { $0.isSameName(as: key) } ?? usualNames.count
    }

    /// Doubles and booleans identify items only under a usual name.
    private static func isUsable(_ value: Value, _ key: Key) -> Bool {
        switch value {
        case .int, .string, .bytes: true
        case .double, .bool: rank(of: key) < usualNames.count
        default: false
        }
    }

    /// Whether most names of each list occur in another one: a field that changes in all items, or
    /// in the only one, tells nothing apart.
    private func isKept(in lists: [[Value]]) -> Bool {
        var counts: [Value: Int] = [:]
        for item in lists.joined() { counts[name(of: item) ?? .null, default: 0] += 1 }
        return lists.allSatisfy { list in
            let kept = list.count { counts[name(of: $0) ?? .null, default: 0] > 1 }
            return 2 * kept >= list.count
        }
    }

    /// How little a field tells beside another one that as many items share: where dates are exchanged, or go
    /// on from item to item, names stay.
    private func doubt(of lists: [[Value]]) -> (Int, Int) {
        let forms = lists.joined().map { item in
            name(of: item)?.text?.filter { !$0.isNumber }
        }
        let areCounted = forms.first.map { $0 != nil } == true && Set(forms).count == 1
        return (disorder(of: lists), areCounted && !isUsual ? 1 : 0)
    }

    /// How often an item follows one that it stood before.
    private func disorder(of lists: [[Value]]) -> Int {
        stride(from: 0, to: lists.count - 1, by: 2).reduce(0) { count, index in
            let old = lists[index].enumerated().map { (name(of: $1), $0) }
            let positions = Dictionary(old) { first, _ in first }
            let places = lists[index + 1].compactMap { positions[name(of: $0)] }
            return count + zip(places, places.dropFirst()).count { $0 > $1 }
        }
    }

    /// Whether all else in the items finds more of them again than their names do.
    ///
    /// - Parameter others: Fields that tell nothing either.
    private func isRefuted(by lists: [[Value]], besides others: [[Key]] = []) -> Bool {
        stride(from: 0, to: lists.count - 1, by: 2).contains { index in
            isRefuted(by: lists[index], lists[index + 1], others)
        }
    }

    private func isRefuted(by old: [Value], _ new: [Value], _ others: [[Key]]) -> Bool {
        let positions = Dictionary(old.indices.map { (name(of: old[$0]), $0) }) { first, _ in first
        }
        let sources = new.map { positions[name(of: $0)] }
        // Mostly, few items differ, and those that do not are found again either way.
        let isChanged = zip(new, sources).contains { item, source in
            source.map { old[$0] != item } ?? false
        }
        guard isChanged, !areKept(sources, from: old, to: new) else { return false }
        let (oldRests, newRests) = (
            old.map { rest(of: $0, others) }, new.map { rest(of: $0, others) }
        )
        let byName = zip(newRests, sources).reduce(0) { count, item in
            count + (item.1.map { oldRests[$0].equalFieldCount(with: item.0) } ?? 0)
        }
        let (oldPlaces, newPlaces) = (oldRests.places, newRests.places)
        let kept = Set(new.map { name(of: $0) })
        let areNames = isStrict || areTextsThatCountNothing(kept)
        let byRest = newPlaces.reduce(0) { count, item in
            guard item.value.count == 1, let places = oldPlaces[item.key], places.count == 1
            else { return count }
            // A copy with a name of its own does not take the name from what was copied.
            let (name, origin) = (self.name(of: new[item.value[0]]), self.name(of: old[places[0]]))
            let isCopy =
                areNames && name?.text != nil && positions[name] == nil && kept.contains(origin)
            return count + (isCopy ? 0 : item.key.map?.count ?? 0)
        }
        return byRest > byName
    }

    /// Whether names stay in their order, and no numbering explains it.
    ///
    /// - Parameter sources: Where each new item's name was.
    private func areKept(_ sources: [Int?], from old: [Value], to new: [Value]) -> Bool {
        let places = sources.compactMap(\.self)
        guard zip(places, places.dropFirst()).allSatisfy(<) else { return false }
        let areTexts = areTextsThatCountNothing(Set((old + new).map { name(of: $0) }))
        if places.count == old.count, places.count == new.count { return areTexts }
        // If items are numbered or lettered anew, names come and go at the end.
        let begin = sources.prefix(places.count).allSatisfy { $0 != nil }
        let isLettered = begin && places.last.map { $0 < places.count } != false
        return !isLettered
            && (areTexts || isUsual && !(old + new).contains { rest(of: $0, []).hasWords })
    }

    /// Whether some names are texts, and differ in more than numbers.
    private func areTextsThatCountNothing(_ names: Set<Value?>) -> Bool {
        let texts = names.compactMap { $0?.text }
        guard texts.count == names.count else { return false }
        return Set(texts.map { text in text.filter { !$0.isNumber } }).count == texts.count
    }

    /// The item without its identity and some other fields.
    private func rest(of item: Value, _ others: [[Key]]) -> Value {
        (fields + others).reduce(item) { $0.without($1[...]) }
    }

    /// Whether the field counts the items of each list, one by one.
    private func numbersItems(of lists: [[Value]]) -> Bool {
        lists.contains { $0.count > 1 }
            && lists.allSatisfy { list in
                // Lazily: a field that the first item alone has is not looked for in all.
                let numbers = list.lazy.map { name(of: $0)?.integer }
                return zip(numbers, numbers.dropFirst()).allSatisfy { left, right in
                    guard let left, let right else { return false }
                    return left < .max && left + 1 == right
                }
            }
    }

    /// The names that occur in several of the lists, and in how many others each does; nil when an item
    /// of one has no name, or two have the same.
    private func sharedNames(in lists: [[Value]]) -> [Value: Int]? {
        var occurrences: [Value: Int] = [:]
        for list in lists {
            var names: Set<Value> = []
            for item in list {
                guard let name = name(of: item), names.insert(name).inserted else { return nil }
                occurrences[name, default: 0] += 1
            }
        }
        return occurrences.mapValues { $0 - 1 }.filter { $0.value > 0 }
    }
}

extension [Value] {
    /// Where each value is.
    fileprivate var places: [Value: [Int]] { Dictionary(grouping: indices) { self[$0] } }
}

extension Value {
    /// Whether there is a text with letters in it.
    fileprivate var hasWords: Bool {
        switch self {
        case .string(let text): text.text.contains(where: \.isLetter)
        case .list(let items): items.contains(where: \.hasWords)
        case .map(let map): map.contains(where: \.value.hasWords)
        case .null, .bool, .int, .double, .bytes: false
        }
    }

    /// The value without a field.
    func without(_ field: ArraySlice<Key>) -> Value {
        guard case .map(var map) = self, let key = field.first else { return self }
        map[key] = field.count > 1 ? map[key]?.without(field.dropFirst()) : nil
        return .map(map)
    }

    fileprivate func equalFieldCount(with other: Value) -> Int {
        map?.count { other[$0.key] == $0.value } ?? 0
    }
}

extension Value.Map.Entry {
    /// Whether this is a usual name of a record, with a value that can be one.
    var isUsualName: Bool {
        ItemIdentity.isUsual(key) && !value.isContainer && value != .null
    }
}

extension Key {
    /// Whether two names differ in the case of ASCII letters at most.
    fileprivate func isSameName(as other: Key) -> Bool {
        guard sizeInBytes == other.sizeInBytes else { return false }
        return zip(text.utf8, other.text.utf8).allSatisfy { left, right in
            left == right || left | 0x20 == right | 0x20 && (0x61...0x7a).contains(left | 0x20)
        }
    }
}
