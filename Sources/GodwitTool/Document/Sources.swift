import GodwitTree

/// What base, ours and theirs have in the place where a value is written.
struct Sources {
    var base: Source?
    var ours: Source?
    var theirs: Source?

    /// What is done with a value.
    enum Plan {
        /// The text of a piece is written as it stands.
        case copy(Source)
        /// The value is written piece by piece.
        case compose
    }

    /// The rules of a three-way merge, for texts whose values are settled already: ours is
    /// written, but where ours has the text of the base, what theirs has made of it.
    func plan(isCopyable: (Source) -> Bool) -> Plan {
        let isUntouched = ours.map { $0.text == base?.text } ?? true
        if let theirs, theirs.isKept, isUntouched, isCopyable(theirs) { return .copy(theirs) }
        if let ours, ours.isKept {
            let hasTheirs = theirs.map { !$0.isScalar && $0.text != base?.text } ?? false
            if isUntouched || !hasTheirs || ours.isScalar || base == nil { return .copy(ours) }
            return .compose
        }
        for side in [theirs, base] {
            if let side, side.isKept, side.isScalar { return .copy(side) }
        }
        return .compose
    }

    /// Whether the value is a new one, and not one of these, or what became of one.
    var areReplaced: Bool {
        [base, ours, theirs].allSatisfy { source in
            if let source, case .set = source.delta { true } else { source == nil }
        }
    }

    func entry(
        _ key: Key,
        _ members: (
            base: [Key: Document.Member], ours: [Key: Document.Member],
            theirs: [Key: Document.Member]
        )
    ) -> Sources {
        Sources(
            base: members.base[key].flatMap { base?.child($0) },
            ours: members.ours[key].flatMap { ours?.child($0) },
            theirs: members.theirs[key].flatMap { theirs?.child($0) }
        )
    }
}
