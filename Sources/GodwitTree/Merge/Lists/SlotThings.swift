/// Where the things are that a list of slots has once, counted from the start of a range of it.
struct SlotThings {
    private let base: Value.List
    private let lists: Sides<Value.List>
    private let range: Range<Int>
    private let places: [Value: Int]
    private let newPlaces: Sides<[Value: Int]>

    init(_ base: Value.List, _ lists: Sides<Value.List>, _ range: Range<Int>) {
        func places(in list: Value.List) -> [Value: Int] {
            ListMatching.uniquePositions(of: range.map { list[$0].nameInSlot })
        }
        (self.base, self.lists, self.range) = (base, lists, range)
        self.places = places(in: base)
        newPlaces = lists.map(places)
    }

    /// Whether a side has a thing in the slot of one that it has no more.
    var haveMovedUp: Bool {
        Side.allCases.contains { side in
            newPlaces[side].contains { name, place in
                guard let old = places[name], old != place,
                    let replaced = base[range.lowerBound + place].nameInSlot
                else { return false }
                return newPlaces[side][replaced] == nil
            }
        }
    }

    /// Whether both sides have moved one thing, each to another slot.
    var areMovedByBoth: Bool {
        apart.contains { thing in
            places[thing.name].map { $0 != thing.ours && $0 != thing.theirs } ?? false
        }
    }

    /// The things that both sides have, each in another slot.
    private var apart: [(name: Value, ours: Int, theirs: Int)] {
        newPlaces.ours.sorted { $0.value < $1.value }.compactMap { name, our in
            guard let their = newPlaces.theirs[name], their != our else { return nil }
            return (name, our, their)
        }
    }

    /// What a person should know if the list is merged slot by slot.
    func reports(in list: MergePlace) -> [Conflict] {
        reportsOfNew(in: list) + reportsOfMoved(in: list)
    }

    /// Things from elsewhere that each side has put into another slot: they are there twice.
    private func reportsOfNew(in list: MergePlace) -> [Conflict] {
        apart.compactMap { thing in
            let (our, their) = (range.lowerBound + thing.ours, range.lowerBound + thing.theirs)
            guard places[thing.name] == nil, lists.ours[our] != base[our],
                lists.theirs[their] != base[their]
            else { return nil }
            let versions = MergeVersions(base: nil, sides: Sides(both: lists.ours[our]))
            return Conflict(.bothMoved, versions, .both, list.child(.position(our)))
        }
    }

    /// Things that one side has moved to another slot, and that the other one has in none.
    private func reportsOfMoved(in list: MergePlace) -> [Conflict] {
        places.sorted { $0.value < $1.value }.compactMap { name, place in
            let mover: Side
            switch (newPlaces.ours[name], newPlaces.theirs[name]) {
            case (let target?, nil) where target != place: mover = .ours
            case (nil, let target?) where target != place: mover = .theirs
            default: return nil
            }
            let target = newPlaces[mover][name].map { lists[mover][range.lowerBound + $0] }
            var sides = Sides<Value?>(both: nil)
            sides[mover] = target
            let position = range.lowerBound + place
            let versions = MergeVersions(base: base[position], sides: sides)
            let place = list.child(.position(position))
            return Conflict(.removedAndEdited, versions, .init(mover), place)
        }
    }
}
