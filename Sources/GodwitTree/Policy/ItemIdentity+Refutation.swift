// Whether the values of a field go to other items.
//
//   (1) If all else in the items finds more of them again than the field does, they were numbered anew, or
//       names changed places. A new item beside the one whose values it has is a copy of that.
//   (2) But names that stay in their order are names, and other values went to other items, if some names
//       came or went between others and are texts of which none counts, or if the items have no words else:
//       dates go on, titles do not. So are such texts if all are there: a list that is lettered anew ends with
//       another letter. If names come at one end alone, the other words of the items decide: a plan that is
//       put off by a day begins with its second day, and each exercise has another day.
//   (3) Where names are such texts, dates, times and numbers that go up from item to item before and after
//       are places: if two talks change places, each gets the time of the other.

extension ItemIdentity {
    /// How little a field tells beside another one that as many items share: where dates are exchanged, or go
    /// on from item to item, names stay.
    func doubt(of lists: [[Value]]) -> (Int, Int) {
        let forms = lists.joined().map { item in
            name(of: item)?.text?.filter { !$0.isNumber }
        }
        let areCounted = forms.first.map { $0 != nil } == true && Set(forms).count == 1
        return (areCounted && !isUsual ? 1 : 0, disorder(of: lists))
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
    func isRefuted(by lists: [[Value]], besides others: [[Key]] = []) -> Bool {
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
        let slots = slots(of: old, new)
        let (oldRests, newRests) = (
            old.map { rest(of: $0, others + slots) }, new.map { rest(of: $0, others + slots) }
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
        if isLettered { return false }
        if areTexts { return !haveSlid(sources) || wordsKept(from: old, to: new) <= places.count }
        return isUsual && !numbersItems(of: [new])
            && !(old + new).contains { rest(of: $0, []).hasWords }
    }

    /// Whether new names come at one end alone: a plan that is put off by a day begins with its second day.
    private func haveSlid(_ sources: [Int?]) -> Bool {
        let count = sources.count { $0 != nil }
        return sources.prefix(count).allSatisfy { $0 != nil }
            || sources.suffix(count).allSatisfy { $0 != nil }
    }

    /// How many items have words, besides their names, that one item alone had and has.
    private func wordsKept(from old: [Value], to new: [Value]) -> Int {
        func words(_ items: [Value]) -> Set<[Key: Value]> {
            let words = items.map { rest(of: $0, []).wordFields }
            let counts = Dictionary(words.map { ($0, 1) }, uniquingKeysWith: +)
            return Set(counts.filter { $0.value == 1 && !$0.key.isEmpty }.keys)
        }
        return words(old).intersection(words(new)).count
    }

    /// The fields that go up from item to item in both lists, if names that are words tell the items apart:
    /// if two talks change places, each gets the time of the other.
    private func slots(of old: [Value], _ new: [Value]) -> [[Key]] {
        guard let first = old.first?.map,
            areTextsThatCountNothing(Set((old + new).map { name(of: $0) }))
        else { return [] }
        return first.map { [$0.key] }.filter { field in
            !fields.contains(field)
                && [old, new].allSatisfy { items in
                    let values = items.lazy.map { Self.scalar(at: field, in: $0) }
                    return items.count > 1
                        && zip(values, values.dropFirst()).allSatisfy { left, right in
                            guard let left, let right else { return false }
                            return left.isBefore(right)
                        }
                }
        }
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
    func numbersItems(of lists: [[Value]]) -> Bool {
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

    /// The fields of a record whose texts have letters.
    fileprivate var wordFields: [Key: Value] {
        (map ?? [:]).reduce(into: [:]) { fields, entry in
            guard entry.value.text?.contains(where: \.isLetter) == true else { return }
            fields[entry.key] = entry.value
        }
    }

    /// Whether one date, time or number is less than another one.
    fileprivate func isBefore(_ other: Value) -> Bool {
        if let number = integer, let other = other.integer { return number < other }
        guard isTime, other.isTime, let text, let otherText = other.text else { return false }
        return (text.utf8.count, text) < (otherText.utf8.count, otherText)
    }

    fileprivate func equalFieldCount(with other: Value) -> Int {
        map?.count { other[$0.key] == $0.value } ?? 0
    }
}
