/// The change from one value to another, as data.
///
/// ```swift
/// let delta = Delta.diff(["items": ["Bread"]], ["items": ["Bread", "Wine"]])
///
/// try delta.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
/// delta.ednText()                              // {:items {:+ {1 "Wine"}}}
/// ```
///
/// All functions of this module return deltas in normal form, without a part that keeps everything,
/// so that equal changes are equal deltas with equal bytes. Two cases can be built by hand that are
/// not: `.increment(0)` and `.list` of an empty ``ListDelta`` change nothing, but differ from
/// ``keep``; ``adding(_:)`` returns ``keep``. A delta does not remember what it replaces;
/// ``inverted(on:)`` takes that from the value it was made for. Applied to a value of another shape
/// it throws.
public enum Delta: Hashable, Sendable {
    /// No change.
    case keep
    /// Another value in the place of the old one.
    case set(Value)
    /// Changes under some keys of a map.
    case map(MapDelta)
    /// Changes to some items of a list.
    case list(ListDelta)
    /// Changes within a string.
    case text(TextDelta)
    /// Something added to an int; what two sides add, adds up. Wraps at 64 bits.
    case increment(Int64)

    /// A delta that changes these keys; without any, one that keeps everything.
    public static func map(_ changes: [Key: MapDelta.Change]) -> Delta {
        map(changes.map { MapDelta.Entry(key: $0, change: $1) }.sorted { $0.key < $1.key })
    }

    /// Takes changes whose keys ascend strictly.
    static func map(_ ascending: [MapDelta.Entry]) -> Delta {
        let entries = ascending.filter { entry in
            if case .apply(let delta) = entry.change { !delta.isKeep } else { true }
        }
        return entries.isEmpty ? .keep : .map(MapDelta(ascending: entries))
    }

    /// The list delta that a recipe stands for.
    static func list(_ recipe: ListRecipe) -> Delta {
        recipe.isEmpty ? .keep : .list(ListDelta(recipe))
    }

    /// Whether nothing changes, in whatever words.
    var isKeep: Bool {
        switch self {
        case .keep, .increment(0): true
        case .list(let delta): delta.recipe.isEmpty
        case .set, .map, .text, .increment: false
        }
    }

    /// Whether something in it adds to an int: such a change counts again when it is made again.
    public var hasIncrement: Bool {
        switch self {
        case .keep, .set, .text: false
        case .increment: true
        case .map(let delta):
            delta.entries.contains { $0.change.delta?.hasIncrement == true }
        case .list(let delta): delta.hasIncrement
        }
    }

    /// A delta that adds a number to an int.
    public static func adding(_ number: Int64) -> Delta {
        number == 0 ? .keep : .increment(number)
    }
}

extension Delta: CustomStringConvertible {
    /// The delta as EDN text, on one line.
    public var description: String { ednText() }
}
