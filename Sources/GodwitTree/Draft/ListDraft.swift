/// A list that is being edited, with the verbs that lists have.
///
/// ```swift
/// try value.edit {
///     $0.items.list.append("Milk")
///     $0.items.list.move(from: $0.items.list.count - 1, to: 0)
/// }
/// ```
///
/// One item is edited, or set, by its position in the draft itself: `$0.items[0].name = "Rye"`.
/// A position that the list does not have is a failure of the draft, as is anything that is done
/// to a value of another kind.
public struct ListDraft {
    fileprivate var place: DraftPlace

    fileprivate init(_ place: DraftPlace) { self.place = place }

    /// How many items there are; 0 where there is no list.
    public var count: Int { place.value?.list?.count ?? 0 }

    /// Puts a new item at a position.
    public mutating func insert(_ item: Value, at position: Int) {
        insert(contentsOf: CollectionOfOne(item), at: position)
    }

    /// Puts a new item at a position.
    @_disfavoredOverload
    public mutating func insert(_ item: some ValueConvertible, at position: Int) {
        insert(contentsOf: CollectionOfOne(item), at: position)
    }

    /// Puts new items at a position.
    public mutating func insert(contentsOf items: some Collection<Value>, at position: Int) {
        guard !items.isEmpty else { return }
        change(position..<position) { list, pieces in
            list.replaceSubrange(position..<position, with: items)
            pieces?.replace(position..<position, with: [.new(items.count)])
        }
    }

    /// Puts new items at a position.
    @_disfavoredOverload
    public mutating func insert(
        contentsOf items: some Collection<some ValueConvertible>,
        at position: Int
    ) {
        do throws(TreeError) {
            var values: [Value] = []
            for item in items { values.append(try item.asValue()) }
            insert(contentsOf: values, at: position)
        } catch {
            place.fail(error)
        }
    }

    /// Puts a new item at the end.
    public mutating func append(_ item: Value) { insert(item, at: count) }

    /// Puts a new item at the end.
    @_disfavoredOverload
    public mutating func append(_ item: some ValueConvertible) { insert(item, at: count) }

    /// Puts new items at the end.
    public mutating func append(contentsOf items: some Collection<Value>) {
        insert(contentsOf: items, at: count)
    }

    /// Puts new items at the end.
    @_disfavoredOverload
    public mutating func append(contentsOf items: some Collection<some ValueConvertible>) {
        insert(contentsOf: items, at: count)
    }

    /// Removes the item at a position.
    public mutating func remove(at position: Int) {
        guard position >= 0, position < count else {
            return place.failOutside(position, count: count)
        }
        removeSubrange(position..<(position + 1))
    }

    /// Removes the items at some positions.
    public mutating func removeSubrange(_ range: Range<Int>) {
        change(range) { list, pieces in
            list.removeSubrange(range)
            pieces?.replace(range, with: [])
        }
    }

    /// Moves an item, so that it then stands at `target`.
    public mutating func move(from source: Int, to target: Int) {
        guard source != target else { return }
        for place in [source, target] where place < 0 || place >= count {
            return self.place.failOutside(place, count: count)
        }
        change(Swift.min(source, target)..<(Swift.max(source, target) + 1)) { list, pieces in
            list.move(from: source, to: target)
            guard let moved = pieces?.take(at: source) else { return }
            pieces?.replace(target..<target, with: [moved])
        }
    }

    /// Lends the list and its pieces; nil if the whole list was set.
    private mutating func change(
        _ range: Range<Int>,
        _ body: (inout Value.List, inout PieceList<ItemPiece>?) -> Void
    ) {
        guard case .list(var list)? = place.value else { return place.fail("a list") }
        guard range.lowerBound >= 0, range.upperBound <= list.count else {
            let outside = range.lowerBound < 0 ? range.lowerBound : range.upperBound
            return place.failOutside(outside, count: list.count)
        }
        place.value = nil
        var pieces = place.story.takePieces(count: list.count)
        body(&list, &pieces)
        place.value = .list(list)
        if let pieces { place.story = .items(pieces) }
    }
}

extension Draft {
    /// The verbs of a list: to insert, append, remove and move items.
    public var list: ListDraft {
        get { ListDraft(place) }
        set {
            var draft = newValue
            place.takeBack(&draft)
        }
        _modify {
            var draft = place.lendList()
            defer { place.takeBack(&draft) }
            yield &draft
        }
    }
}

extension DraftPlace {
    fileprivate mutating func lendList() -> ListDraft {
        var draft = ListDraft(DraftPlace(lent: origin))
        swap(&value, &draft.place.value)
        swap(&story, &draft.place.story)
        return draft
    }

    fileprivate mutating func takeBack(_ draft: inout ListDraft) {
        if let failure = draft.place.failure { fail(failure) }
        draft.place.settle(lent: origin)
        swap(&value, &draft.place.value)
        swap(&story, &draft.place.story)
    }
}
