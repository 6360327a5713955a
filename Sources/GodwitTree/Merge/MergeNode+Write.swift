/// The change in one place, and the change that each side has still to make there; nil for none.
struct MergedChange {
    var delta: MapDelta.Change?
    var after: Sides<MapDelta.Change?>

    static let nothing = MergedChange(delta: nil, after: Sides(both: nil))
}

extension MergeNode {
    /// The node as changes, once everything in it is settled.
    var written: MergedChange {
        switch self {
        case .kept: return .nothing
        case .one(let side, let change):
            var after = Sides<MapDelta.Change?>(both: nil)
            after[side.other] = change
            return MergedChange(delta: change, after: after)
        case .same(let change): return MergedChange(delta: change, after: Sides(both: nil))
        case .sum(let added):
            return MergedChange(
                delta: .apply(.adding(added.ours &+ added.theirs)),
                after: Sides(
                    ours: .apply(.adding(added.theirs)),
                    theirs: .apply(.adding(added.ours))
                )
            )
        case .raised(let int, let number, let side):
            let sum = MapDelta.Change.apply(.set(.int(int &+ number)))
            var after = Sides<MapDelta.Change?>(both: .apply(.adding(number)))
            after[side] = sum
            return MergedChange(delta: sum, after: after)
        case .decided(let value, let versions): return versions.written(as: value)
        case .open(let choice): return choice.versions.written(as: choice.result)
        case .map(let map): return map.written
        case .list(let list): return list.written
        case .text(let text): return text.written
        case .inserted(let insertion): return insertion.written
        case .created(let empty, let node):
            var written = node.written
            let created = empty.changed(by: written.delta?.delta ?? .keep)
            written.delta = .apply(.set(created))
            return written
        }
    }
}

extension MergeVersions {
    /// The change to a value from where the base and each side stand; nil removes it.
    func written(as result: Value?) -> MergedChange {
        func change(from old: Value?) -> MapDelta.Change? {
            guard old != result else { return nil }
            return result.map { .apply(.set($0)) } ?? .remove
        }
        return MergedChange(delta: change(from: base), after: sides.map { change(from: $0) })
    }
}

extension MergeChoice {
    var result: Value? { versions.sides[picked ?? .theirs] }
}

extension Insertion {
    fileprivate var written: MergedChange {
        var after = Sides<MapDelta.Change?>(both: nil)
        let result: Value
        let edits = isMerged ? edits : row.map { [$0] } ?? []
        if let change = edits.joined(for: side) {
            after[side] = change
            if case .remove = change { return MergedChange(delta: nil, after: after) }
            result = value.changed(by: change.delta ?? .keep)
        } else if let origin {
            let moved = origin.node.written
            after[side] = moved.after[side]
            if case .remove? = moved.delta { return MergedChange(delta: nil, after: after) }
            result = origin.base.changed(by: moved.delta?.delta ?? .keep)
        } else {
            result = value
        }
        after[side.other] = .apply(.set(result))
        return MergedChange(delta: .apply(.set(result)), after: after)
    }
}

extension MergedMap {
    fileprivate var written: MergedChange {
        if let whole {
            let versions = versions
            let value = versions.sides[whole] ?? .null
            var written = versions.written(as: value)
            written.delta = .apply(deltas[whole])
            if let loser = versions.sides[whole.other] {
                written.after[whole.other] = .apply(.diff(loser, value, place.rules))
            }
            return written
        }
        var delta: [MapDelta.Entry] = []
        var after = Sides<[MapDelta.Entry]>(both: [])
        for (key, node) in entries {
            let written = node.written
            if let change = written.delta {
                delta.append(MapDelta.Entry(key: key, change: change))
            }
            for side in Side.allCases {
                guard let change = written.after[side] else { continue }
                after[side].append(MapDelta.Entry(key: key, change: change))
            }
        }
        return MergedChange(delta: .apply(.map(delta)), after: after.map { .apply(.map($0)) })
    }
}

// MARK: - Lists

extension MergedList {
    fileprivate var written: MergedChange {
        var delta = ListRecipe()
        var after = Sides<ListRecipe>(both: ListRecipe())
        for (item, node) in items {
            let written = node.written
            if case .remove? = written.delta { continue }
            switch item {
            case .base(let segment):
                if case .open(let choice) = node, choice.result == nil { continue }
                let range = plan.segments.ranges[segment]
                delta.append(range, written.delta?.delta ?? .keep)
                for side in Side.allCases {
                    after[side].append(segment, of: plan.side(side), range, written, side, base)
                }
            case .new(let places):
                // It may stand elsewhere.
                guard written.delta != nil else { continue }
                let value = Value.null.changed(by: written.delta?.delta ?? .keep)
                delta.append(.new(value))
                for side in Side.allCases {
                    guard let place = places[side] else {
                        after[side].append(.new(value))
                        continue
                    }
                    let position = plan.side(side).starts[place]
                    after[side].append(.edited(position, written.after[side]?.delta ?? .keep))
                }
            }
        }
        delta.finish(tail: plan.segments.end)
        for side in Side.allCases { after[side].finish(tail: plan.side(side).length) }
        return MergedChange(delta: .apply(.list(delta)), after: after.map { .apply(.list($0)) })
    }
}

extension ListRecipe {
    fileprivate mutating func append(_ range: Range<Int>, _ delta: Delta) {
        append(range.count == 1 ? .edited(range.lowerBound, delta) : .kept(range))
    }

    /// A segment as a side has it, or again, where the side has removed it.
    fileprivate mutating func append(
        _ segment: Int,
        of list: ListSide,
        _ range: Range<Int>,
        _ written: MergedChange,
        _ side: Side,
        _ base: Value.List
    ) {
        if let start = list.start(of: segment) {
            append(start..<(start + range.count), written.after[side]?.delta ?? .keep)
        } else if range.count == 1 {
            append(.new(base[range.lowerBound].changed(by: written.delta?.delta ?? .keep)))
        } else {
            for item in base[range] { append(.new(item)) }
        }
    }
}
