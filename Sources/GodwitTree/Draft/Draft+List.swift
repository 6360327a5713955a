extension Draft {
    /// How many items or entries there are; 0 for a scalar.
    public var count: Int { current?.list?.count ?? current?.map?.count ?? 0 }

    /// The item at a position of a list.
    public subscript(position: Int) -> Draft {
        get {
            guard let list = current?.list, list.indices.contains(position) else {
                return Draft.absent
            }
            return Draft(list[position])
        }
        set {
            _ = takeItem(position)
            put(.new(newValue.value), position)
        }
        _modify {
            var child = takeItem(position)
            let origin = child.origin
            defer { put(child.from(origin), position) }
            yield &child
        }
    }

    /// Puts a new item at a position of a list.
    public mutating func insert(_ item: Value, at position: Int) {
        insert(contentsOf: CollectionOfOne(item), at: position)
    }

    /// Puts new items at a position of a list.
    public mutating func insert(contentsOf items: some Collection<Value>, at position: Int) {
        guard !items.isEmpty else { return }
        change(within: position..<position) { list, runs in
            list.replaceSubrange(position..<position, with: items)
            runs?.replace(position..<position, with: [.new(items.count)])
        }
    }

    /// Puts a new item at the end of a list.
    public mutating func append(_ item: Value) { insert(item, at: count) }

    /// Removes the item at a position of a list.
    public mutating func remove(at position: Int) {
        guard position < count else { return fail(.outside(position, count: count)) }
        removeSubrange(position..<(position + 1))
    }

    /// Removes the items at some positions of a list.
    public mutating func removeSubrange(_ range: Range<Int>) {
        change(within: range) { list, runs in
            list.removeSubrange(range)
            runs?.replace(range, with: [])
        }
    }

    /// Moves an item of a list, so that it then stands at `target`.
    public mutating func move(from source: Int, to target: Int) {
        guard source != target else { return }
        guard source < count, target < count else {
            return fail(.outside(Swift.max(source, target), count: count))
        }
        let range = Swift.min(source, target)..<(Swift.max(source, target) + 1)
        change(within: range) { list, runs in
            list.move(from: source, to: target)
            guard let moved = runs?.take(at: source) else { return }
            runs?.replace(target..<target, with: [moved])
        }
    }

    /// Lends the list, and what happened to its items; nil where that does not matter.
    private mutating func change(
        within range: Range<Int>,
        _ body: (inout Value.List, inout RunSequence<ItemRun>?) -> Void
    ) {
        guard case .list(var list)? = current else { return fail("a list") }
        guard range.lowerBound >= 0, range.upperBound <= list.count else {
            return fail(.outside(range.upperBound - 1, count: list.count))
        }
        current = nil
        var runs: RunSequence<ItemRun>?
        switch recording {
        case .set: break
        case .list(let known): runs = known
        default: runs = RunSequence(kept: .kept(0..<list.count))
        }
        if runs != nil { recording = .none }
        body(&list, &runs)
        current = .list(list)
        if let runs { recording = .list(runs) }
    }
}

// MARK: - Items

extension Draft {
    private mutating func takeItem(_ position: Int) -> Draft {
        guard case .list(var list)? = current else {
            fail("a list")
            return .absent
        }
        guard list.indices.contains(position) else {
            fail(.outside(position, count: list.count))
            return .absent
        }
        current = nil
        let value = list.tree.lend(at: position) { value -> Value in
            defer { value = .null }
            return value
        }
        current = .list(list)
        return Draft(value, takeStory(of: position))
    }

    /// What happened to an item so far.
    ///
    /// Gives the story up, here, so that it can go on in place.
    private mutating func takeStory(of position: Int) -> Recording {
        switch recording {
        case .set: return .set
        case .list(var runs):
            recording = .none
            defer { recording = .list(runs) }
            return runs.modify(at: position) { run in
                switch run {
                case .kept: return .none
                case .new: return .set
                case .edited(let base, let story):
                    run = .edited(base, .none)
                    return story
                }
            }
        default: return .none
        }
    }

    private mutating func put(_ child: Draft, _ position: Int) {
        if let failure = child.failure { fail(failure.within(.position(position))) }
        guard case .list(var list)? = current, list.indices.contains(position) else { return }
        current = nil
        list.modify(at: position) { $0 = child.value }
        let count = list.count
        current = .list(list)
        guard !recording.isSet, !child.recording.isNone else { return }
        note(child.recording, position, count: count)
    }

    private mutating func note(_ story: Recording, _ position: Int, count: Int) {
        var runs = RunSequence(kept: ItemRun.kept(0..<count))
        if case .list(let known) = recording { runs = known }
        // Gives the runs up, so that they can change in place.
        recording = .none
        let (run, offset) = runs[position]
        switch run {
        case .kept(let range):
            let item = ItemRun.edited(range.lowerBound + offset, story)
            runs.replace(position..<(position + 1), with: [item])
        case .edited(let base, _):
            runs.replace(position..<(position + 1), with: [.edited(base, story)])
        case .new: break
        }
        recording = .list(runs)
    }
}

extension TreeError {
    fileprivate static func outside(_ position: Int, count: Int) -> TreeError {
        .wrongBase(path: Path(), reason: "there is no place \(position) in a list of \(count)")
    }
}
