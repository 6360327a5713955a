// Whether two edits of a record in a list are about one thing.
//
// An item without an identity, or with a new one, is found again by its words and its place. So a
// side may have put another thing in its place, and an edit of the other side would land on that.
//
//   (1) The parts that neither side replaced are the evidence: a usual name, words, and what was
//       changed inside. Values that say nothing about a record are none (`FieldDefaults`).
//   (2) Without evidence, or with little where a side changed the name too, the record of the side
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
        let defaults = FieldDefaults(neighbours(of: position))
        var replaced = Sides(both: 0)
        var (isRenamed, evidence) = (false, 0)
        for entry in record {
            let isUsual = ItemIdentity.isUsual(entry.key)
            if let side = Side.allCases.first(where: { deltas[$0].replaces(entry) }) {
                replaced[side] += isUsual ? record.count : 1
                isRenamed = isRenamed || isUsual
            } else if !defaults.contains(entry.key, entry.value) {
                if isUsual, entry.value.isScalar { return nil }
                // Priorities and counts are alike in many records.
                guard entry.value.integer == nil else { continue }
                evidence += entry.value.evidence(atMost: Self.renamedMin)
            }
        }
        guard evidence < (isRenamed ? Self.renamedMin : 1) else { return nil }
        return replaced.ours > replaced.theirs ? .ours : .theirs
    }

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
