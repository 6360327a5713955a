extension Merger {
    mutating func mergeTexts(
        _ base: Value?,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode {
        guard case .string(let old)? = base else {
            return choice(.bothSet, base, deltas.map { base?.changed(by: $0) }, place)
        }
        let splices = deltas.map { $0.splices(of: old) }
        if let ours = splices.ours, let theirs = splices.theirs {
            let text = MergedText(old, Sides(ours: ours, theirs: theirs), deltas, place)
            if !text.isWholeContest || !old.isLine { return decided(text) }
        }
        return choice(.bothSet, base, deltas.map { base?.changed(by: $0) }, place)
    }

    /// Merges lists of strings that are the lines of one text.
    mutating func mergeLines(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, base.count <= Self.linesMax, let old = base.lines else {
            return nil
        }
        let deltas = deltas.map { Delta.list($0.recipe) }
        let values = deltas.map { Value.list(base).changed(by: $0) }
        guard let our = values.ours.list?.lines, let their = values.theirs.list?.lines,
            old.areSeveralLines || our.areSeveralLines || their.areSeveralLines
        else { return nil }
        return decided(MergedText(lines: old, Sides(ours: our, theirs: their), deltas, place))
    }

    private static let linesMax = 100_000

    /// The text, or a rule's answer where something is contested.
    private func decided(_ text: MergedText) -> MergeNode {
        guard text.place.rules?.rule != nil, !text.contested.isEmpty else { return .text(text) }
        let versions = text.versions
        return text.place.decide(.bothRewrote, versions).map { .decided($0, versions) }
            ?? .text(text)
    }
}

extension Delta {
    /// This change of a text as splices; nil where it makes something else of it.
    func splices(of base: Key) -> [TextDelta.Splice]? {
        switch self {
        case .text(let delta): delta.splices
        case .set(.string(let new)):
            TextDiff.splices(Array(base.text.utf8), Array(new.text.utf8))
        default: nil
        }
    }
}
