/// The change from one value to another, as data.
///
/// ```swift
/// let delta = Delta.diff(["items": ["Bread"]], ["items": ["Bread", "Wine"]])
///
/// try delta.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
/// delta.ednText()                              // {:items {:+ {1 "Wine"}}}
/// ```
///
/// A delta is in normal form: it has no part that keeps everything, so that equal changes are
/// equal deltas with equal bytes. It does not remember what it replaces; ``inverted(on:)``
/// takes that from the value it was made for. Applied to a value of another shape it throws.
public enum Delta: Hashable, Sendable {
    /// No change.
    case keep
    /// Another value in the place of the old one.
    case set(Value)
    /// Changes under some keys of a map.
    case map(MapDelta)
    /// Changes to some items of a list.
    case list(ListDelta)

    /// A delta that changes these keys; without any, one that keeps everything.
    public static func map(_ changes: [Key: MapDelta.Change]) -> Delta {
        let changes = changes.filter { $0.value != .apply(.keep) }
        return changes.isEmpty ? .keep : .map(MapDelta(changes: changes))
    }

    /// The list delta that a recipe stands for.
    static func list(_ recipe: ListRecipe) -> Delta {
        let delta = recipe.delta
        return delta.isEmpty ? .keep : .list(delta)
    }
}

/// What happens under the keys of a map; other keys keep their values.
public struct MapDelta: Hashable, Sendable {
    public enum Change: Hashable, Sendable {
        /// The key has no value afterwards, whether it had one or not.
        case remove
        /// The value changes; a key without a value can only be set.
        case apply(Delta)
    }

    /// The changes by key.
    ///
    /// None is `.apply(.keep)`.
    public let changes: [Key: Change]

    fileprivate init(changes: [Key: Change]) { self.changes = changes }

    struct Entry {
        let key: Key
        let change: Change
    }

    var canonical: [Entry] {
        changes.map(Entry.init).sorted { $0.key < $1.key }
    }

    var alphabetical: [Entry] {
        changes.map(Entry.init).sorted { Key.isBefore($0.key, $1.key) }
    }
}

extension Delta: CustomStringConvertible {
    /// The delta as EDN text, on one line.
    public var description: String { ednText() }
}
