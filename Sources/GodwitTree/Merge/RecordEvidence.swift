// Whether two edits of a record in a list are about one thing.
//
// An item without an identity, or with a new one, is found again by its words and its place. So a
// side may have put another thing in its place, and an edit of the other side would land on that.
//
//   (1) The parts that neither side replaced are the evidence: a usual name, words, and what was
//       changed inside. Values that say nothing about a record are none (`FieldDefaults`).
//   (2) A text that the records around have in that field too, and each another one, is enough.
//   (3) Without evidence, or with little where a side changed the name too, the record of the side
//       that replaced more of it excludes the edit of the other side.

extension Value.List {
    private static let neighboursMax = 4
    private static let renamedMin = 3

    /// The side that may have put another record in the place of this one, which the other side
    /// edited; nil if both edited one thing.
    func replacer(of position: Int, _ edits: Sides<Delta>) -> Side? {
        guard case .map(let record) = self[position], case .map(let ours) = edits.ours,
            case .map(let theirs) = edits.theirs, ours != theirs, !ours.meets(theirs)
        else { return nil }
        let deltas = Sides(ours: ours, theirs: theirs)
        let neighbours = neighbours(of: position)
        let defaults = FieldDefaults(neighbours)
        var replaced = Sides(both: 0)
        var (minimum, evidence, numbers, isReworded) = (1, 0, 0, false)
        for entry in record {
            let isUsual = ItemIdentity.isUsual(entry.key)
            if let side = Side.allCases.first(where: { deltas[$0].replaces(entry) }) {
                replaced[side] += isUsual ? record.count : 1
                isReworded = isReworded || entry.value.text != nil
                if isUsual { minimum = Swift.max(minimum, 2) }
                if ItemIdentity.isStrict(entry.key) { minimum = Self.renamedMin }
            } else if !defaults.contains(entry.key, entry.value) {
                if isUsual, entry.value.isScalar { return nil }
                let isOwn = neighbours.contains { $0[entry.key] != nil }
                if isOwn, entry.value.text != nil { return nil }
                if entry.value.integer == nil {
                    evidence += entry.value.evidence(atMost: Self.renamedMin)
                } else {
                    numbers += 1
                }
            }
        }
        // Priorities and counts are alike in many records.
        guard evidence + (isReworded ? 0 : numbers) < minimum else { return nil }
        return replaced.ours > replaced.theirs ? .ours : .theirs
    }

    /// Whether a new item has a text or a number of the old one that the items around have each in
    /// another form: a shift of a roster, say.
    func tellsPlace(of position: Int, keptIn new: Value) -> Bool {
        guard case .map(let record) = self[position] else { return false }
        let neighbours = neighbours(of: position)
        return record.contains { entry in
            guard entry.value.text != nil || entry.value.integer != nil,
                new[entry.key] == entry.value
            else { return false }
            let others = neighbours.compactMap { $0[entry.key] }
            return !others.isEmpty && Set(others).count == others.count
                && !others.contains(entry.value)
        }
    }

    /// Some items around one.
    private func neighbours(of position: Int) -> [Value] {
        let start = Swift.max(0, position - Self.neighboursMax)
        let end = Swift.min(count, position + Self.neighboursMax + 1)
        return (start..<end).filter { $0 != position }.map { self[$0] }
    }
}

extension MapDelta {
    /// Whether both change one field.
    fileprivate func meets(_ other: MapDelta) -> Bool {
        entries.contains { other[$0.key] != nil }
    }

    /// Whether nothing of a field's value is left.
    fileprivate func replaces(_ entry: Value.Map.Element) -> Bool {
        switch self[entry.key] {
        case nil, .apply(.text)?, .apply(.map)?, .apply(.list)?, .apply(.increment)?,
            .apply(.keep)?:
            false
        case .remove?: true
        case .apply(.set(let value))?:
            entry.value.isScalar
                && Resemblance(entry.value).score(with: Resemblance(value)) == 0
        }
    }
}
