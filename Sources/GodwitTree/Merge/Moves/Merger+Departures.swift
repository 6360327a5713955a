extension Merger {
    /// Notes a value that both sides removed, and all in it: each part may have gone elsewhere.
    mutating func noteRemoval(
        of value: Value,
        _ place: MergePlace,
        in container: Departure? = nil,
        isPart: Bool = false
    ) {
        if originPaths.contains(place.inBase) { return }
        if container == nil, !isPart { meetings.note(Removal(base: value, place: place)) }
        var container = container
        if value.isDistinctive || value.isToken && place.list != nil {
            let departure = Departure(value, place, in: container)
            departures.append(departure)
            // The first walk only looks whether there are any.
            guard isThorough else { return }
            container = departure
        }
        switch value {
        case .map(let map):
            for entry in map {
                let place = place.child(.key(entry.key))
                noteRemoval(of: entry.value, place, in: container, isPart: true)
            }
        case .list(let items):
            for (position, item) in items.enumerated() {
                let place = place.child(.position(position))
                noteRemoval(of: item, place, in: container, isPart: true)
            }
        default: break
        }
    }

    /// Notes the parts of a value that a change removes, where the other side removed them too.
    mutating func noteRemovals(
        by delta: Delta,
        from base: Value,
        _ place: MergePlace,
        in container: Departure? = nil
    ) {
        switch (delta, base) {
        case (.map(let delta), .map(let map)):
            for entry in delta.entries {
                guard let value = map[entry.key] else { continue }
                let place = place.child(.key(entry.key))
                switch entry.change {
                case .remove: noteRemoval(of: value, place, in: container)
                case .apply(let change): noteRemovals(by: change, from: value, place, in: container)
                }
            }
        case (.list(let delta), .list(let items)):
            for position in delta.recipe.removes.joined() {
                noteRemoval(of: items[position], place.child(.position(position)), in: container)
            }
            for case .edited(let position, let change) in delta.recipe.runs {
                let place = place.child(.position(position))
                noteRemovals(by: change, from: items[position], place, in: container)
            }
        default: break
        }
    }
}
