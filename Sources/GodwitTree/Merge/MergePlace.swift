/// Where a merge is, and the rules that hold there.
///
/// A place has two paths, because positions shift: the base has no position for an item that a
/// side put in, and has others than ours for the items behind it.
struct MergePlace {
    private var path = ValuePath()
    private var pathInOurs = ValuePath()
    /// Whether both sides created the container around this place, or the value in it.
    private(set) var isNew = false
    private(set) var rules: MergePolicy.Node?

    init(rules: MergePolicy.Node?) { self.rules = rules }

    /// A place under this one; `inOurs` is the step that leads there in ours, if it is another.
    func child(_ step: ValuePath.Step, inOurs: ValuePath.Step? = nil) -> MergePlace {
        var child = self
        child.path.steps.append(step)
        child.pathInOurs.steps.append(inOurs ?? step)
        child.rules = rules?.child(step)
        return child
    }

    /// This place, in a container that both sides created.
    var created: MergePlace {
        var place = self
        place.isNew = true
        return place
    }

    /// This place, for a value that a side has at another one.
    func moved(to other: MergePlace, by side: Side) -> MergePlace {
        var place = self
        if side == .ours { place.pathInOurs = other.pathInOurs }
        return place
    }

    /// The path of the map, or of the list, around this place; nil where the base has none.
    var map: ValuePath? { isUnder { if case .key = $0 { true } else { false } } }
    var list: ValuePath? { isUnder { if case .position = $0 { true } else { false } } }

    private func isUnder(_ isWanted: (ValuePath.Step) -> Bool) -> ValuePath? {
        guard !isNew, let last = path.steps.last, isWanted(last) else { return nil }
        return ValuePath(path.steps.dropLast())
    }

    /// The key of this place, if it is under one.
    var key: Key? { if case .key(let key)? = path.steps.last { key } else { nil } }

    /// The path, in ours, of the list around this place, which the base may lack.
    var listInOurs: ValuePath? {
        guard case .position? = pathInOurs.steps.last else { return nil }
        return ValuePath(pathInOurs.steps.dropLast())
    }

    /// The path in the base.
    var inBase: ValuePath { path }
    var inOurs: ValuePath { pathInOurs }

    /// Whether it is one of some places of the base.
    func isAmong(_ paths: Set<ValuePath>) -> Bool {
        !paths.isEmpty && !isNew && paths.contains(path)
    }

    /// The path in the base, or in ours where the base has nothing.
    func path(of versions: MergeVersions) -> ValuePath {
        versions.base == nil ? pathInOurs : path
    }
}

extension MergePlace {
    /// The side that a rule follows where one side removed something and the other changed it; nil
    /// where the default holds.
    func side(ofRemover remover: Side) -> Side? {
        switch rules?.rule {
        case .ours?: .ours
        case .theirs?: .theirs
        case .deleteWins?: remover
        case .editWins?, .union?: remover.other
        case .max?, .min?, .sum?, .whole?, .custom?, nil: nil
        }
    }

    /// The value that a rule makes of two; nil where the default holds.
    func decide(_ reason: Conflict.Reason, _ versions: MergeVersions) -> Value? {
        guard let ours = versions.sides.ours, let theirs = versions.sides.theirs,
            let rule = rules?.rule
        else { return nil }
        switch rule {
        case .ours: return ours
        case .theirs: return theirs
        case .max: return ours.isLess(than: theirs).map { $0 ? theirs : ours }
        case .min: return ours.isLess(than: theirs).map { $0 ? ours : theirs }
        case .sum:
            guard let our = ours.integer, let their = theirs.integer else { return nil }
            return .int(our &+ their &- (versions.base?.integer ?? 0))
        case .custom(let decide):
            let value = decide(Conflict(reason, versions, .theirs, self))
            // The merge ignores an answer that nests too deep.
            return value.flatMap {
                $0.isNested(within: Value.depthMax - path.steps.count) ? $0 : nil
            }
        case .editWins, .deleteWins, .union, .whole: return nil
        }
    }
}
