// Whether two edits of a record in a list are about one thing.
//
// An item without an identity, or with a new one, is found again by its words and its place. So a
// side may have put another thing in its place, and an edit of the other side would land on that.
//
//   (1) The parts that neither side replaced are the evidence: a usual name, words, and what was
//       changed inside. Values that say nothing about a record are none (`FieldDefaults`).
//   (2) A text is enough if a record nearby has that field too, and the text is no default, unless a
//       side replaced more fields than are left.
//   (3) Without evidence, or with little where a side changed the name too, the record of the side
//       that replaced more of it excludes the edit of the other side.
//   (4) A side that replaced an `id`, and replaced another text or number that the records around have
//       each in another form, or edited such a text, has put another record there.
//   (5) A row of cells is named by its first text. Where that is another one, and most of the other
//       cells too, the row is another one.

extension Value.List {
    private static let neighboursMax = 4
    /// How many records around have to differ in a field before it names them.
    private static let markMin = 2

    /// The side that may have put another record in the place of this one, which the other side
    /// edited; nil if both edited one thing.
    ///
    /// - Parameter areInTable: Whether the edits of rows are told by columns.
    func replacer(of position: Int, _ edits: Sides<Delta>, areInTable: Bool) -> Side? {
        if case .list(let row) = self[position] {
            let rows = edits.map { areInTable ? row.cells(by: $0) : row.changed(by: $0) }
            return edits.ours == .keep || edits.theirs == .keep ? nil : replacer(of: row, rows)
        }
        guard case .map(let record) = self[position], case .map(let ours) = edits.ours,
            case .map(let theirs) = edits.theirs, ours != theirs, !ours.meets(theirs)
        else { return nil }
        let deltas = Sides(ours: ours, theirs: theirs)
        let neighbours = neighbours(of: position)
        let defaults = FieldDefaults(neighbours)
        var evidence = RecordEvidence(fieldCount: record.count)
        for entry in record {
            if let side = Side.allCases.first(where: { deltas[$0].replaces(entry) }) {
                let isMark = marks(entry, among: neighbours)
                let isDefault = defaults.contains(entry.key, entry.value)
                evidence.noteReplaced(entry, by: side, isMark: isMark, isDefault: isDefault)
            } else if !defaults.contains(entry.key, entry.value) {
                let sharedCount = neighbours.count { $0[entry.key] != nil }
                let isMark = sharedCount >= Self.markMin && marks(entry, among: neighbours)
                evidence.noteKept(entry, isShared: sharedCount > 0, isMark: isMark)
                if isMark, let side = Side.allCases.first(where: { deltas[$0][entry.key] != nil }) {
                    evidence.noteEditedMark(by: side)
                }
            }
        }
        return evidence.replacer
    }

    /// Whether a field tells a record from those around: each of them has another value in it.
    private func marks(_ entry: Value.Map.Element, among neighbours: [Value]) -> Bool {
        guard entry.value.text != nil || entry.value.integer != nil else { return false }
        let others = neighbours.compactMap { $0[entry.key] }
        return !others.isEmpty && Set(others).count == others.count
            && !others.contains(entry.value)
    }

    /// The side that has put another row of cells in the place of this one.
    private func replacer(of row: Value.List, _ rows: Sides<Value.List?>) -> Side? {
        guard row.allSatisfy(\.isScalar), let ours = rows.ours, let theirs = rows.theirs,
            let name = row.firstIndex(where: { ($0.text?.isEmpty ?? true) == false })
        else { return nil }
        let isOther = Sides(ours: ours, theirs: theirs).map { row.isReplaced(by: $0, name: name) }
        guard isOther.ours != isOther.theirs else { return nil }
        let replacer: Side = isOther.ours ? .ours : .theirs
        // Where both set one cell, that is reported by itself.
        let edited = replacer == .ours ? theirs : ours
        let other = replacer == .ours ? ours : theirs
        let meet = row.indices.contains { index in
            [edited, other].allSatisfy { $0.indices.contains(index) && $0[index] != row[index] }
        }
        return meet ? nil : replacer
    }

    private func changed(by delta: Delta) -> Value.List? {
        Value.list(self).changed(by: delta).list
    }

    /// The cells of this row after a change, each where this row has it; null for one that went.
    private func cells(by delta: Delta) -> Value.List? {
        guard case .list(let change) = delta else { return changed(by: delta) }
        var cells = Array(self)
        for position in change.recipe.removes.joined() { cells[position] = .null }
        for (position, edit) in change.recipe.edits {
            cells[position] = cells[position].changed(by: edit)
        }
        return Value.List(cells)
    }

    /// Whether a new item has a text or a number of the old one that the items around have each in
    /// another form: a shift of a roster, say.
    func tellsPlace(of position: Int, keptIn new: Value) -> Bool {
        guard case .map(let record) = self[position] else { return false }
        let neighbours = neighbours(of: position)
        return record.contains { entry in
            new[entry.key] == entry.value && marks(entry, among: neighbours)
        }
    }

    /// Some items around one.
    private func neighbours(of position: Int) -> [Value] {
        let start = Swift.max(0, position - Self.neighboursMax)
        let end = Swift.min(count, position + Self.neighboursMax + 1)
        return (start..<end).filter { $0 != position }.map { self[$0] }
    }
}

/// Tells whether a record that both sides edited is still the same one.
private struct RecordEvidence {
    private static let renamedMin = 3

    private let fieldCount: Int
    private var replaced = Sides(both: 0)
    private var hasOtherID = Sides(both: false)
    private var hasOtherMark = Sides(both: false)
    /// How many words of evidence are enough.
    private var minimum = 1
    private var words = 0
    private var numbers = 0
    private var isReworded = false
    private var isNamed = false
    private var isKnownByText = false
    /// How many fields each side replaced, and how many neither did.
    private var replacedCounts = Sides(both: 0)
    private var keptCount = 0

    init(fieldCount: Int) { self.fieldCount = fieldCount }

    /// - Parameters:
    ///   - isMark: Whether the field tells this record from those around.
    ///   - isDefault: Whether the old value said nothing about the record.
    mutating func noteReplaced(
        _ entry: Value.Map.Element,
        by side: Side,
        isMark: Bool,
        isDefault: Bool
    ) {
        let isUsual = ItemIdentity.isUsual(entry.key)
        replaced[side] += isUsual ? fieldCount : 1
        if !isDefault { replacedCounts[side] += 1 }
        isReworded = isReworded || entry.value.text != nil
        if isUsual { minimum = max(minimum, 2) }
        if ItemIdentity.isStrict(entry.key) {
            minimum = Self.renamedMin
            hasOtherID[side] = true
        } else if isMark {
            hasOtherMark[side] = true
        }
    }

    /// - Parameters:
    ///   - isShared: Whether a record nearby has the field, too.
    ///   - isMark: Whether the field tells this record from those around.
    mutating func noteKept(_ entry: Value.Map.Element, isShared: Bool, isMark: Bool) {
        keptCount += 1
        if isMark, entry.value.text != nil { isNamed = true }
        if ItemIdentity.isUsual(entry.key), entry.value.isScalar { isNamed = true }
        if isShared, entry.value.text != nil { isKnownByText = true }
        if entry.value.integer == nil {
            words += entry.value.evidence(atMost: Self.renamedMin)
        } else {
            numbers += 1
        }
    }

    /// Notes a change of a field that tells this record from those around.
    mutating func noteEditedMark(by side: Side) { hasOtherMark[side] = true }

    /// The side that may have put another record there.
    var replacer: Side? {
        for side in Side.allCases where hasOtherID[side] && hasOtherMark[side] { return side }
        if isNamed { return nil }
        var minimum = minimum
        let replacedCount = max(replacedCounts.ours, replacedCounts.theirs)
        if replacedCount > keptCount {
            minimum = max(minimum, min(replacedCount, Self.renamedMin))
        } else if isKnownByText {
            return nil
        }
        // Priorities and counts are alike in many records.
        guard words + (isReworded ? 0 : numbers) < minimum else { return nil }
        return replaced.ours > replaced.theirs ? .ours : .theirs
    }
}

extension Value.List {
    /// Whether a row has another name, and lacks most of the other cells that say something.
    ///
    /// - Parameter name: The place of the first text.
    fileprivate func isReplaced(by new: Value.List, name: Int) -> Bool {
        guard new.indices.contains(name),
            Resemblance(self[name]).score(with: Resemblance(new[name])) == 0
        else { return false }
        let cells = indices.filter { $0 != name && !self[$0].isUnset }
        let kept = cells.count { new.indices.contains($0) && new[$0] == self[$0] }
        return !cells.isEmpty && 2 * kept <= cells.count
    }
}

extension MapDelta {
    /// Whether both change one field.
    fileprivate func meets(_ other: MapDelta) -> Bool {
        entries.contains { other[$0.key] != nil }
    }

    private static let keptMax = 0.5

    /// Whether nothing of a field's value is left, or not more than a unit, say.
    fileprivate func replaces(_ entry: Value.Map.Element) -> Bool {
        switch self[entry.key] {
        case nil, .apply(.map)?, .apply(.increment)?, .apply(.keep)?: false
        case .apply(.text(let delta))?: entry.value.score(after: .text(delta)) <= Self.keptMax
        case .apply(.list(let delta))?: entry.value.score(after: .list(delta)) == 0
        case .remove?: true
        case .apply(.set(let value))?:
            entry.value.isScalar
                && Resemblance(entry.value).score(with: Resemblance(value)) <= Self.keptMax
        }
    }
}

extension Value {
    /// Whether an edit leaves nothing of a text of a record that has no usual name, or another one.
    func isReworded(by edit: Delta) -> Bool {
        guard case .map(let record) = self, case .map(let delta) = edit else { return false }
        let keepsName = record.contains { $0.isUsualName && delta[$0.key] == nil }
        return !keepsName && record.contains { $0.value.text != nil && delta.replaces($0) }
    }

    /// How much of the words a change leaves, from 0 to 1.
    fileprivate func score(after change: Delta) -> Double {
        Resemblance(self).score(with: Resemblance(changed(by: change)))
    }
}
