// While a draft lends a part of it, the part is out: nothing else holds it, so that it can change
// in place.
//
//   (1) A container is taken out of its parent, and null stands for it; a scalar is only copied,
//       and so is an item of a run.
//   (2) The story of the part, if there is one, is out as well.
//   (3) Access to the parent is exclusive until the part is back. So the part is where it was.

/// A part of a draft that is edited at the moment.
struct DraftLoan<Step> {
    var draft: Draft
    fileprivate let step: Step
    /// Where the part is in the tree of its parent, or would be inserted.
    fileprivate let position: Int
    fileprivate let wasThere: Bool
    fileprivate let origin: UInt64
    /// The value when the draft began.
    fileprivate let base: Value?
    /// Whether the parent has a story of this part.
    fileprivate let isKnown: Bool

    fileprivate init(
        _ value: Value?,
        _ story: Recording,
        _ step: Step,
        position: Int,
        base: Value?,
        isKnown: Bool
    ) {
        draft = Draft(DraftPlace(value, story))
        (self.step, self.position, wasThere) = (step, position, value != nil)
        (self.base, self.isKnown, origin) = (base, isKnown, draft.place.origin)
    }

    /// A part that is not there, of a place that can have none.
    fileprivate static func nothing(_ step: Step) -> DraftLoan {
        DraftLoan(nil, .none, step, position: 0, base: nil, isKnown: false)
    }

    /// The change of the part to remember; nil when there is none.
    fileprivate func field() -> Recording.Field? {
        guard let value = draft.place.value else { return Recording.Field(base: base, story: .set) }
        let story = draft.place.story
        guard story.isSet, !value.isContainer else {
            return isKnown || !story.isNone ? Recording.Field(base: base, story: story) : nil
        }
        return Recording.Field(base: base, story: .scalar(value))
    }
}

// MARK: - Keys

extension DraftPlace {
    /// Puts another draft in the place of the one under a key.
    mutating func put(_ draft: Draft, _ key: Key) {
        var loan = lend(key)
        loan.draft = draft
        takeBack(&loan)
    }

    mutating func lend(_ key: Key) -> DraftLoan<Key> {
        guard case .map(var map)? = value else {
            fail("a map")
            return .nothing(key)
        }
        let (position, wasThere) = map.find(key)
        let part = wasThere ? map.tree[position].value : nil
        if part?.isContainer == true {
            value = nil
            map.tree.lend(at: position) { $0.value = .null }
            value = .map(map)
        }
        let known = takeStory(of: key)
        let base = known.map(\.base) ?? (story.isSet ? nil : part)
        let isNew = base == nil
        return DraftLoan(
            part,
            isNew ? .set : known?.story ?? .none,
            key,
            position: position,
            base: base,
            isKnown: known != nil
        )
    }

    mutating func takeBack(_ loan: inout DraftLoan<Key>) {
        loan.draft.place.settle(lent: loan.origin)
        if let failure = loan.draft.place.failure { fail(failure.within(.key(loan.step))) }
        guard case .map(var map)? = value else { return }
        value = nil
        if !story.isSet, let field = loan.field() { note(field, loan.step, loan) }
        let (position, part) = (loan.position, loan.draft.place.value)
        switch (loan.wasThere, part) {
        case (true, let part?): map.tree.lend(at: position) { $0.value = part }
        case (true, nil): map[loan.step] = nil
        case (false, let part?): map[loan.step] = part
        case (false, nil): break
        }
        value = .map(map)
    }

    /// The change under a key so far; it is given up here, so that it can go on in place.
    private mutating func takeStory(of key: Key) -> Recording.Field? {
        if let field = story.takeField(key) { return field }
        guard var fields = story.takeFields() else { return nil }
        defer { story = .fields(fields) }
        guard let field = fields[key] else { return nil }
        fields[key]?.story = .none
        return field
    }

    private mutating func note(_ field: Recording.Field, _ key: Key, _ loan: DraftLoan<Key>) {
        // What came and went again leaves nothing behind.
        if field.base == nil, loan.draft.place.value == nil, !loan.isKnown { return }
        guard !story.isNone else { return story = .field(key, field) }
        guard var fields = story.takeFields() else { return }
        fields[key] = field
        story = .fields(fields)
    }
}

// MARK: - Positions

extension DraftPlace {
    func item(at position: Int) -> Value? {
        guard let list = value?.list, list.indices.contains(position) else { return nil }
        return list[position]
    }

    /// Puts another draft in the place of the one at a position.
    mutating func put(_ draft: Draft, _ position: Int) {
        var loan = lend(position)
        loan.draft = draft
        takeBack(&loan)
    }

    mutating func lend(_ position: Int) -> DraftLoan<Int> {
        guard case .list(var list)? = value else {
            fail("a list")
            return .nothing(position)
        }
        guard list.indices.contains(position) else {
            failOutside(position, count: list.count)
            return .nothing(position)
        }
        value = nil
        var part = Value.null
        let isOut = list.tree.lendOutsideRun(at: position) { item in
            if item.isContainer { swap(&part, &item) } else { part = item }
        }
        if !isOut { part = list[position] }
        value = .list(list)
        let known = takeStory(ofItem: position)
        return DraftLoan(
            part,
            known?.story ?? (story.isSet ? .set : .none),
            position,
            position: position,
            base: known.map(\.base) ?? part,
            isKnown: known != nil
        )
    }

    mutating func takeBack(_ loan: inout DraftLoan<Int>) {
        let position = loan.position
        loan.draft.place.settle(lent: loan.origin)
        if let failure = loan.draft.place.failure { fail(failure.within(.position(position))) }
        guard loan.wasThere, case .list(var list)? = value else { return }
        guard let part = loan.draft.place.value else {
            let reason = "an item is removed by list.remove(at:), and not by nil"
            return fail(TreeError.wrongBase(path: ValuePath([.position(position)]), reason: reason))
        }
        value = nil
        if !story.isSet, let field = loan.field() { note(field, position, count: list.count) }
        list.tree.modify(at: position) { $0 = part }
        value = .list(list)
    }

    mutating func failOutside(_ position: Int, count: Int) {
        fail(reason: "there is no place \(position) in a list of \(count)")
    }

    /// The change of an item so far; it is given up here, so that it can go on in place.
    private mutating func takeStory(ofItem position: Int) -> Recording.Field? {
        if let field = story.takeItem(position) { return field }
        guard var pieces = story.takeItems() else { return nil }
        defer { story = .items(pieces) }
        return pieces.modify(at: position) { piece in
            switch piece {
            case .kept: return nil
            case .new: return Recording.Field(base: nil, story: .set)
            case .edited(let place, let field):
                piece = .edited(place, Recording.Field(base: field.base, story: .none))
                return field
            }
        }
    }

    private mutating func note(_ field: Recording.Field, _ position: Int, count: Int) {
        guard !story.isNone else { return story = .item(position, count: count, field) }
        guard var pieces = story.takePieces(count: count) else { return }
        let (piece, offset) = pieces[position]
        switch piece {
        case .kept(let range):
            let item = ItemPiece.edited(range.lowerBound + offset, field)
            pieces.replace(position..<(position + 1), with: [item])
        case .edited(let place, _):
            pieces.modify(at: position) { $0 = .edited(place, field) }
        case .new: break
        }
        story = .items(pieces)
    }
}
