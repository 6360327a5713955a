// How the items of a list are told apart.
//
//   (1) By a field whose value each item has, each its own, in every version of the list that is
//       looked at: of the usual names, whatever their case, the one that most items share
//       between the versions; else any other field whose values most items keep. Of two such fields, it
//       is the one that is more than a text with other numbers in each item, and then the one whose values
//       stay in their order: dates are put off and exchanged, names are not. A map in the item may have
//       that field if it holds the item's own fields, and no author or other thing. Numbers that count the
//       items in every version are places.
//   (2) By two fields together, where that is usual: an OpenAPI parameter is its name and place.
//   (3) A field whose values go to other items is none, whatever its name: see
//       `ItemIdentity+Refutation.swift`.
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

    static func scalar(at field: [Key], in item: Value) -> Value? {
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

extension Value {
    /// The value without a field.
    func without(_ field: ArraySlice<Key>) -> Value {
        guard case .map(var map) = self, let key = field.first else { return self }
        map[key] = field.count > 1 ? map[key]?.without(field.dropFirst()) : nil
        return .map(map)
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
