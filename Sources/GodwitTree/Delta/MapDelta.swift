/// The changes under the keys of a map; other keys keep their values.
public struct MapDelta: Hashable, Sendable {
    public enum Change: Hashable, Sendable {
        /// The key has no value afterwards, whether it had one or not.
        case remove
        /// The value changes; a key without a value can only be set.
        case apply(Delta)

        /// The change of the value; nil for a removal.
        var delta: Delta? { if case .apply(let delta) = self { delta } else { nil } }
    }

    public struct Entry: Hashable, Sendable {
        public let key: Key
        public let change: Change
    }

    /// The changes, their keys ascending; at least one, and none is `.apply(.keep)`.
    public let entries: [Entry]

    init(ascending entries: [Entry]) { self.entries = entries }

    /// The change under a key; nil when its value stays.
    ///
    /// - Complexity: O(log *k*).
    public subscript(key: Key) -> Change? {
        let index = entries.partitioningIndex { !($0.key < key) }
        return index < entries.count && entries[index].key == key ? entries[index].change : nil
    }

    var alphabetical: [Entry] { entries.sorted { Key.isBefore($0.key, $1.key) } }

    /// Calls `body` for each key that either side changes, in canonical order.
    static func walk<Failure: Error>(
        _ left: MapDelta,
        _ right: MapDelta,
        _ body: (Key, Change?, Change?) throws(Failure) -> Void
    ) throws(Failure) {
        var (leftIndex, rightIndex) = (0, 0)
        while leftIndex < left.entries.count, rightIndex < right.entries.count {
            let (first, second) = (left.entries[leftIndex], right.entries[rightIndex])
            if first.key == second.key {
                try body(first.key, first.change, second.change)
                leftIndex += 1
                rightIndex += 1
            } else if first.key < second.key {
                try body(first.key, first.change, nil)
                leftIndex += 1
            } else {
                try body(second.key, nil, second.change)
                rightIndex += 1
            }
        }
        for entry in left.entries[leftIndex...] { try body(entry.key, entry.change, nil) }
        for entry in right.entries[rightIndex...] { try body(entry.key, nil, entry.change) }
    }
}
