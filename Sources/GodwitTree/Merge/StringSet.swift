// Lists of strings, all different, merge as sets. In a set an item is its string: one that a side
// made of another item, and that the other side has brought in too, is one new string, and the
// item that it was made of is gone.

/// What two sides do to a list of strings that are all different.
struct StringSet {
    private(set) var ours: ListRecipe
    private(set) var theirs: ListRecipe

    /// - Complexity: O(*k*) in the number of runs; where a string meets itself, O(*n*) in the
    ///   length of the list.
    init(_ base: Value.List, ours: ListRecipe, theirs: ListRecipe) {
        (self.ours, self.theirs) = (ours, theirs)
        let (our, their) = (ours.strings(madeIn: base), theirs.strings(madeIn: base))
        let shared = our.keys.filter { their[$0] != nil && their[$0] != our[$0] }
        guard !shared.isEmpty, Self.isOne(base) else { return }
        self.ours = ours.bringing(Set(shared), into: base)
        self.theirs = theirs.bringing(Set(shared), into: base)
    }

    /// Whether these are strings, all different.
    static func isOne(_ items: some Collection<Value>) -> Bool {
        items.allSatisfy { if case .string = $0 { true } else { false } }
            && Set(items).count == items.count
    }
}

extension ListRecipe {
    /// What a string of the changed list was made of.
    fileprivate enum Source: Equatable {
        case nothing
        case item(Int)
    }

    /// The strings that this change brings into a list.
    fileprivate func strings(madeIn base: Value.List) -> [Key: Source] {
        var strings: [Key: Source] = [:]
        for run in runs {
            if case .new(.string(let string)) = run {
                strings[string] = .nothing
            } else if let (position, string) = run.string(madeIn: base) {
                strings[string] = .item(position)
            }
        }
        return strings
    }

    /// The same change, where some of the strings are made of nothing.
    fileprivate func bringing(_ strings: Set<Key>, into base: Value.List) -> ListRecipe {
        var result = ListRecipe()
        for run in runs {
            if let (_, string) = run.string(madeIn: base), strings.contains(string) {
                result.append(.new(.string(string)))
            } else {
                result.append(run)
            }
        }
        result.finish(tail: tail)
        return result
    }
}

extension ListRecipe.Run {
    /// The string that another one, which this is about, is made into.
    fileprivate func string(madeIn base: Value.List) -> (Int, Key)? {
        guard case .edited(let position, let delta) = self, case .string = base[position],
            case .string(let string) = base[position].changed(by: delta)
        else { return nil }
        return (position, string)
    }
}
