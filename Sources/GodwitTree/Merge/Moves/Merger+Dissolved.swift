// A container that one side took apart, and in which the other side edited something.
//
//   (1) The side put what is in the container elsewhere. If everything that the other side edited in it
//       is found there, each edit goes along, and the container goes. A conflict says so where something
//       is left there that the other side removed.
//   (2) Of what is edited, the outermost values that are found count.
//   (3) If the other side put something new into the container, or edited it itself, it stays, and a
//       conflict says so.

extension Merger {
    /// The values in a container that an edit changes; nil if it does more than that.
    mutating func noteEditedParts(
        by edit: Delta,
        of base: Value,
        _ place: MergePlace,
        in container: Departure
    ) -> [Departure]? {
        var parts: [Departure] = []
        switch (edit, base) {
        case (.map(let delta), .map(let map)):
            for entry in delta.entries {
                guard let value = map[entry.key] else { return nil }
                guard case .apply(let change) = entry.change else { continue }
                let place = place.child(.key(entry.key))
                parts.append(noteEditedPart(by: change, value, place, in: container))
            }
        case (.list(let delta), .list(let items)):
            let changes = delta.parts
            guard changes.inserts.isEmpty, changes.moves.isEmpty else { return nil }
            for case .edited(let position, let change) in delta.recipe.runs {
                let place = place.child(.position(position))
                parts.append(noteEditedPart(by: change, items[position], place, in: container))
            }
        default: return nil
        }
        return parts
    }

    private mutating func noteEditedPart(
        by edit: Delta,
        _ base: Value,
        _ place: MergePlace,
        in container: Departure
    ) -> Departure {
        let choice = container.choice.map { around in
            var sides = around.versions.sides.map { _ in Value?.none }
            if let editor = around.editor { sides[editor] = base.changed(by: edit) }
            let versions = MergeVersions(base: base, sides: sides)
            return MergeChoice(.removedAndEdited, versions, place, edit: edit)
        }
        let part = Departure(base, place, choice, in: container)
        part.isEditedPart = true
        part.editedParts = noteEditedParts(by: edit, of: base, place, in: part)
        if base.isDistinctive { departures.append(part) }
        return part
    }

    /// Removes a container if the search has found each edited part of it elsewhere, and edits these there.
    mutating func dissolve(_ departure: Departure) {
        guard let choice = departure.choice, choice.picked == nil,
            let edit = choice.edit, !edit.onlyRemoves(from: departure.base),
            let remover = choice.editor?.other, !departure.place.isAmong(doubtful),
            let parts = departure.foundParts(on: remover)
        else { return }
        for part in parts {
            guard let edit = part.choice?.edit, let arrival = part.arrivals[remover] else {
                continue
            }
            bring(edit, of: part, to: arrival)
        }
        choice.picked = remover
    }
}

extension Departure {
    /// The edited parts, as far out as they are found on a side; nil if one is not found.
    fileprivate func foundParts(on side: Side) -> [Departure]? {
        guard let editedParts, !editedParts.isEmpty else { return nil }
        var found: [Departure] = []
        for part in editedParts {
            if part.arrivals[side] != nil {
                found.append(part)
            } else if let parts = part.foundParts(on: side) {
                found += parts
            } else {
                return nil
            }
        }
        return found
    }
}
