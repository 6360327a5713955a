// The new items of both sides that are one.
//
//   (1) Items with the same identity, where the list has one. Two new records with the same number
//       or date that agree on less than half of their fields, or on half with another name or without
//       a usual one, are two: both sides counted on. A field that both left empty, zero or false, or
//       as most items have it, says nothing. Two with the
//       same name, title or label that have no other value in common, or dates of their own, are
//       two. Two with the same `id` or `key` are two if each side has several fields of its own, and
//       no field says that they are one: else nothing would tell that a record has parts of both. An
//       identity that the policy declares makes one of them all the same.
//   (2) Equal items in the same gap. Equal records also where nothing that both sides left in its place
//       stands between them; and anywhere, if each side has just one and the list has none: of two
//       separators in a list of such, two people put in two.
//   (3) In a list of scalars, all different: equal words and ints, and assignments to one name.
//       An int, a sentence, or a record without a usual name that is one and stands at different
//       places is told: it may be two.
//   (4) Equal items in the places of different ones are two, and that is told, unless they have a
//       usual or declared name.
//   (5) Two with one `id`, which is no number, that are not one by these rules are two, and that is told.
//   (6) Where at least half of what both sides put between two items is one, the same came to both. Two
//       other records there that look alike, and stand between the same ones, may be one that a side has
//       edited: both are there, and that is told.
//
// The search judges a list by the new items and their neighbours.

struct TwinSearch {
    /// The place of ours for each place of theirs that is the same item.
    private(set) var pairs: [Int: Int] = [:]
    /// The places of two items with one identity that are not one item, on their sides.
    private(set) var clashes: [Sides<Int>] = []

    /// The places of items that are one, though they stand apart.
    private(set) var distant: [Sides<Int>] = []
    /// The places of equal items that are two, as they stand in the places of different ones.
    private(set) var apart: [Sides<Int>] = []
    /// How many segments that both sides left in their place stand before each item.
    private let depths: Sides<[Int]>
    /// The segments in the place of which new items stand.
    private let turnovers: Sides<[Int: Range<Int>]>

    private static let neighboursMax = 16
    private static let candidatesMax = 64
    private static let provenMin = 4

    init(_ base: Value.List, _ plan: ListMerge, _ declared: ItemIdentity?) {
        turnovers = Sides(ours: plan.ours, theirs: plan.theirs).map {
            $0.turnovers(of: plan.segments)
        }
        depths = plan.depths
        let (ours, theirs) = (plan.ours.inserted, plan.theirs.inserted)
        guard !ours.isEmpty, !theirs.isEmpty else { return }
        let near = Self.neighbours(base, plan)
        let found = ItemIdentity(of: [near + ours.map(\.value), near + theirs.map(\.value)])
        // New items alone do not tell which field names them.
        let isSure = found?.isUsual == true || near.count >= ItemIdentity.sharedMin
        if let identity = declared ?? (isSure ? found : nil) {
            unite(ours, theirs, by: identity, isDeclared: declared != nil, near)
        } else {
            // The word behind an option belongs to it: two are the same only if both sides wrote them alike.
            if Self.isOfArguments(near, plan), Self.differ(ours, theirs) { return }
            let names: [Self.Name] = [{ $0.assignedName.map { .string($0) } }, { $0 }]
            let name = names.first { Self.areDistinct(near, plan, by: $0) }
            unite(ours, theirs, plan, by: name ?? { $0 }, isSet: name != nil, near)
        }
        if declared == nil { noteSameIDs(ours, theirs) }
        noteVersions(plan)
    }

    private mutating func unite(
        _ ours: [(place: Int, value: Value)],
        _ theirs: [(place: Int, value: Value)],
        by identity: ItemIdentity,
        isDeclared: Bool,
        _ near: [Value]
    ) {
        let ourNames = ListMatching.uniquePositions(of: ours.map { identity.name(of: $0.value) })
        let theirNames = ListMatching.uniquePositions(
            of: theirs.map { identity.name(of: $0.value) }
        )
        let shared = theirNames.filter { ourNames[$0.key] != nil }
        guard !shared.isEmpty else { return }
        let defaults = FieldDefaults(near)
        for (name, their) in shared.sorted(by: { $0.value < $1.value }) {
            guard let our = ourNames[name] else { continue }
            if !isDeclared, ours[our].value.hasOtherID(than: theirs[their].value) { continue }
            let (ourPlace, theirPlace) = (ours[our].place, theirs[their].place)
            let mayStandApart = !isDeclared && !identity.isUsual
            let areEqual = ours[our].value == theirs[their].value
            if mayStandApart, areEqual, standApart(ourPlace, theirPlace) {
                apart.append(Sides(ours: ourPlace, theirs: theirPlace))
                continue
            }
            // Few items do not tell whether another field than the usual ones is a name.
            let isProven = identity.isUsual || near.count >= Self.provenMin
            let isSame = ours[our].value.isSame(
                as: theirs[their].value,
                name,
                by: identity,
                defaults,
                isProven: isProven
            )
            if !isDeclared, !isSame {
                guard isProven else { continue }
                clashes.append(Sides(ours: ourPlace, theirs: theirPlace))
            } else {
                pair(ourPlace, theirPlace, isTold: mayStandApart)
            }
        }
    }

    private mutating func unite(
        _ ours: [(place: Int, value: Value)],
        _ theirs: [(place: Int, value: Value)],
        _ plan: ListMerge,
        by name: Name,
        isSet: Bool,
        _ near: [Value]
    ) {
        func content(_ value: Value) -> ItemContent { ItemContent(name(value) ?? value) }
        var places: [ItemContent: [Int]] = [:]
        for (place, value) in ours.reversed() {
            places[content(value), default: []].append(place)
        }
        var counts: [ItemContent: Int] = [:]
        for (_, value) in theirs { counts[content(value), default: 0] += 1 }
        let known = Set(near.map(content))
        for (place, value) in theirs {
            let content = content(value)
            guard let candidates = places[content], !candidates.isEmpty else { continue }
            let isOnly = candidates.count == 1 && counts[content] == 1
            let isOne = value.isScalar ? isSet && value.isName : !known.contains(content)
            let anchor = plan.theirs.anchor(of: place)
            func isApart(_ candidate: Int) -> Bool {
                plan.ours.newValue(at: candidate) == value && standApart(candidate, place)
            }
            let index = candidates.suffix(Self.candidatesMax).lastIndex { candidate in
                if isApart(candidate) { return false }
                if plan.ours.anchor(of: candidate) == anchor { return true }
                let isSameGap = depths.ours[candidate] == depths.theirs[place]
                return isOnly && (isOne || isSameGap && (isSet || !value.isScalar))
            }
            guard let index else {
                if isOnly, isApart(candidates[0]) {
                    apart.append(Sides(ours: candidates[0], theirs: place))
                }
                continue
            }
            pair(candidates[index], place, isTold: !value.isWord)
            places[content]?.remove(at: index)
        }
    }

    /// Notes two records with one `id` that are not one, whichever field names the others.
    private mutating func noteSameIDs(
        _ ours: [(place: Int, value: Value)],
        _ theirs: [(place: Int, value: Value)]
    ) {
        let taken = Set(pairs.values).union(clashes.map(\.ours))
        let free = ours.filter { !taken.contains($0.place) && $0.value.isSurelyNamed }
        let ourNames = ListMatching.uniquePositions(of: free.map { $0.value.usualName })
        let theirTaken = Set(pairs.keys).union(clashes.map(\.theirs))
        for (place, value) in theirs where !theirTaken.contains(place) {
            guard let name = value.usualName, let our = ourNames[name] else { continue }
            clashes.append(Sides(ours: free[our].place, theirs: place))
        }
    }

    /// Notes what both sides put into one gap and wrote differently, where they agree on most of it.
    private mutating func noteVersions(_ plan: ListMerge) {
        let gaps = Sides(ours: plan.ours, theirs: plan.theirs).map { side in
            Dictionary(grouping: side.inserted) { side.anchor(of: $0.place) }
        }
        let ourTaken = Set(pairs.values).union(clashes.map(\.ours))
        let theirTaken = Set(pairs.keys).union(clashes.map(\.theirs))
        for (anchor, ours) in gaps.ours.sorted(by: { $0.key ?? -1 < $1.key ?? -1 }) {
            guard let theirs = gaps.theirs[anchor] else { continue }
            let count = theirs.count { pairs[$0.place] != nil }
            let countMax = max(ours.count, theirs.count)
            guard count < countMax, 2 * count >= countMax else { continue }
            let lists = [ours, theirs].map { $0.map(\.value) }
            var matching = ListMatching(
                old: lists[0],
                new: lists[1],
                among: lists,
                identity: nil,
                nil
            )
            matching.matchAll(byPlace: false)
            for (their, source) in zip(theirs, matching.sources) {
                guard let our = source.map({ ours[$0] }), our.value.map != nil,
                    their.value.map != nil, !ourTaken.contains(our.place),
                    !theirTaken.contains(their.place)
                else { continue }
                clashes.append(Sides(ours: our.place, theirs: their.place))
            }
        }
    }

    /// - Parameter isTold: Whether it is told that the two stand apart.
    private mutating func pair(_ our: Int, _ their: Int, isTold: Bool) {
        pairs[their] = our
        guard isTold, depths.ours[our] != depths.theirs[their] else { return }
        distant.append(Sides(ours: our, theirs: their))
    }

    /// Whether two new items stand in the places of different items of the base.
    private func standApart(_ our: Int, _ their: Int) -> Bool {
        guard let ours = turnovers.ours[our], let theirs = turnovers.theirs[their] else {
            return false
        }
        return !ours.overlaps(theirs)
    }

    /// The name that tells an item apart; nil where it has none.
    private typealias Name = (Value) -> Value?

    /// Whether the list holds scalars, and all have different names.
    private static func areDistinct(_ near: [Value], _ plan: ListMerge, by name: Name) -> Bool {
        Side.allCases.allSatisfy { side in
            let items = near + plan.side(side).inserted.map(\.value)
            let names = items.compactMap(name)
            return names.count == items.count && items.allSatisfy(\.isScalar)
                && Set(names.map(ItemContent.init)).count == items.count
        }
    }

    /// Whether each side has something that the other has not.
    private static func differ(
        _ ours: [(place: Int, value: Value)],
        _ theirs: [(place: Int, value: Value)]
    ) -> Bool {
        let (ours, theirs) = (Value.List(ours.map(\.value)), Value.List(theirs.map(\.value)))
        return !ours.contains(inOrder: theirs) && !theirs.contains(inOrder: ours)
    }

    /// Whether the list has options, such as `--port`, and other strings.
    private static func isOfArguments(_ near: [Value], _ plan: ListMerge) -> Bool {
        let items = near + Side.allCases.flatMap { plan.side($0).inserted.map(\.value) }
        return Set(items.map(\.isOption)).count == 2
            && items.allSatisfy { if case .string = $0 { true } else { false } }
    }

    /// Items of the base near the new ones.
    private static func neighbours(_ base: Value.List, _ plan: ListMerge) -> [Value] {
        var wanted: Set<Int> = []
        for side in Side.allCases {
            let side = plan.side(side)
            for (place, _) in side.inserted {
                let position = side.anchor(of: place).map { plan.segments.ranges[$0].upperBound }
                let middle = position ?? 0
                wanted.formUnion(
                    max(0, middle - neighboursMax)..<min(base.count, middle + neighboursMax)
                )
            }
        }
        return wanted.sorted().map { base[$0] }
    }
}

extension Value {
    /// From how many fields on, of each side, two records with one `id` are two.
    private static let ownMin = 2

    /// Whether two records with one identity are one record.
    ///
    /// Lists may number their items each on its own: with a number, or a name that is none of the
    /// usual ones or stands in a container, most fields must be equal.
    /// Names and titles come twice: with one, it is enough that not each side has other fields.
    fileprivate func isSame(
        as other: Value,
        _ name: Value,
        by identity: ItemIdentity,
        _ defaults: FieldDefaults,
        isProven: Bool
    ) -> Bool {
        guard self != other, let map = opened(for: identity),
            let otherMap = other.opened(for: identity)
        else { return true }
        let names = Set(identity.fields.compactMap { $0.count == 1 ? $0[0] : nil })
        let isNested = names.count < identity.fields.count
        let equals = map.filter { !names.contains($0.key) && otherMap[$0.key] == $0.value }
        let equal = equals.count
        let common = map.count { !names.contains($0.key) && otherMap[$0.key] != nil }
        let own = Sides(ours: map.count, theirs: otherMap.count).map { $0 - names.count - common }
        let unset = equals.count { defaults.contains($0.key, $0.value) }
        if name.integer != nil || !identity.isUsual || isNested {
            let count = common - unset + own.ours + own.theirs
            let hasOtherName =
                isProven
                && map.contains { field in
                    ItemIdentity.isUsual(field.key) && !names.contains(field.key)
                        && otherMap[field.key].map { $0 != field.value } == true
                }
            let mustBeMost = hasOtherName || isProven && !identity.isUsual && equal < common
            return 2 * (equal - unset) >= count + (mustBeMost ? 1 : 0)
        }
        if identity.isStrict {
            // A field with two values is reported.
            let isContested = map.contains { field in
                guard !names.contains(field.key), let other = otherMap[field.key] else {
                    return false
                }
                return field.value != other && field.value.isScalar && other.isScalar
            }
            return equal > unset || isContested || min(own.ours, own.theirs) < Self.ownMin
        }
        // Two appointments, or two expenses, of one title.
        let haveOwnDays = map.contains { field in
            otherMap[field.key].map { Vote.isOtherDay(field.value, $0) } ?? false
        }
        return !haveOwnDays && (equal > 0 || own.ours == 0 || own.theirs == 0)
    }
}

extension Value {
    /// A record with the fields of a container that holds its name as its own, less the name.
    fileprivate func opened(for identity: ItemIdentity) -> Map? {
        guard case .map(var map) = self else { return nil }
        for field in identity.fields where field.count > 1 {
            guard case .map(let inner)? = map[field[0]] else { continue }
            map[field[0]] = nil
            for entry in inner where entry.key != field[1] {
                map[Key("\(field[0])/\(entry.key)")] = entry.value
            }
        }
        return map
    }

    /// Whether two records have different ids that are no numbers.
    func hasOtherID(than other: Value) -> Bool {
        guard let name = usualName, let otherName = other.usualName else { return false }
        return isSurelyNamed && other.isSurelyNamed && name != otherName
    }
}

extension Value {
    private static let rulerMin = 3

    /// Whether this is an int, or a text that is neither blank nor a ruler, such as `---`.
    fileprivate var isName: Bool {
        guard case .string(let key) = self else { return integer != nil }
        let text = key.text
        if text.contains(where: { $0.isLetter || $0.isNumber }) { return true }
        let isRuler = text.count >= Self.rulerMin && Set(text).count == 1
        return !isRuler && !text.allSatisfy(\.isWhitespace)
    }

    /// Whether this is a text of one word: a list of such is a set.
    fileprivate var isWord: Bool { text.map { !$0.contains(where: \.isWhitespace) } == true }

    /// The name in an assignment such as `PORT=80`; nil for any other text.
    fileprivate var assignedName: Key? {
        guard let text, let end = text.firstIndex(of: "="), end > text.startIndex else {
            return nil
        }
        let isName = text[..<end].allSatisfy { character in
            character.isASCII
                && (character.isLetter || character.isNumber || "_.".contains(character))
        }
        return isName ? Key(String(text[..<end])) : nil
    }

    /// Whether this is an option of a command, such as `--port`.
    var isOption: Bool {
        guard let text, text.utf8.first == UInt8(ascii: "-") else { return false }
        return text.dropFirst().first.map { $0 == "-" || $0.isLetter } ?? false
    }
}
