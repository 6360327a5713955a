/// The values that stand under several keys of a map: such a value does not tell where it came from.
struct CommonValues {
    private let base: Value
    private var counts: [Path: [ItemContent: Int]] = [:]

    init(_ base: Value) { self.base = base }

    /// Whether a value that departed from a map has an equal one beside it.
    mutating func contains(_ departure: Departure) -> Bool {
        guard let path = departure.place.map else { return false }
        if counts[path] == nil {
            let values = base.part(at: path)?.map?.map { ItemContent($0.value) } ?? []
            counts[path] = values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        return counts[path]?[ItemContent(departure.base)] ?? 0 > 1
    }
}

extension Value {
    fileprivate func part(at path: Path) -> Value? {
        path.steps.reduce(self as Value?) { part, step in
            switch (part, step) {
            case (.map(let map)?, .key(let key)): map[key]
            case (.list(let list)?, .position(let position)) where list.indices.contains(position):
                list[position]
            default: nil
            }
        }
    }
}
