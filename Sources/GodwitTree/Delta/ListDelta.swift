/// The changes of the items of a list.
///
/// Each position addresses an item in exactly one of the two lists: what is removed, edited or
/// moved away is named by its place in the base; what is inserted or arrives by a move, by its
/// place in the result. Nothing shifts within a delta, so the order of its parts means nothing.
/// (Swift's `CollectionDifference` counts in the same way.)
public struct ListDelta: Hashable, Sendable {
    let recipe: ListRecipe

    init(_ recipe: ListRecipe) { self.recipe = recipe }

    /// Positions beyond this are refused, so that no arithmetic on them can overflow.
    public static let positionMax = 1 << 40

    /// Items next to each other that come to stand elsewhere, next to each other.
    public struct Move: Hashable, Sendable {
        /// The position of the first in the base.
        public let source: Int
        /// The position of the first in the result.
        public let target: Int
        public let count: Int

        public init(source: Int, target: Int, count: Int = 1) {
            self.source = source
            self.target = target
            self.count = count
        }

        var sources: Range<Int> { source..<(source + count) }
        var targets: Range<Int> { target..<(target + count) }
    }

    public struct Insert: Hashable, Sendable {
        /// The position in the result.
        public let position: Int
        public let value: Value

        public init(position: Int, value: Value) {
            self.position = position
            self.value = value
        }
    }

    public struct Edit: Hashable, Sendable {
        /// The position in the base, even when the item also moves.
        public let position: Int
        public let delta: Delta

        public init(position: Int, delta: Delta) {
            self.position = position
            self.delta = delta
        }
    }

    /// The change by what happens to items, as it is written and printed.
    public struct Parts: Hashable, Sendable {
        /// Positions in the base, ascending; no two ranges touch.
        public internal(set) var removes: [Range<Int>] = []
        /// By source, ascending; as few items as possible move, in as few runs.
        public internal(set) var moves: [Move] = []
        /// By position, ascending.
        public internal(set) var inserts: [Insert] = []
        /// By position, ascending.
        public internal(set) var edits: [Edit] = []

        init() {}

        /// The names of the parts in text: removes, edits, moves and inserts.
        static let names: Set<Key> = ["-", "=", ">", "+"]
    }

    /// - Complexity: O(*k* log *k*) in the number of runs.
    public var parts: Parts { recipe.parts }

    /// Whether something in it adds to an int.
    var hasIncrement: Bool {
        recipe.runs.contains { run in
            if case .edited(_, let delta) = run { delta.hasIncrement } else { false }
        }
    }

    /// Puts a delta together from parts in any order, and brings it into normal form.
    ///
    /// - Throws: ``TreeError/invalidDelta(reason:)`` when the parts contradict each other.
    public init(
        removes: [Range<Int>] = [],
        moves: [Move] = [],
        inserts: [Insert] = [],
        edits: [Edit] = []
    ) throws(TreeError) {
        var parts = Parts()
        parts.removes = removes.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
        parts.moves = moves.filter { $0.count > 0 }.sorted { $0.source < $1.source }
        parts.inserts = inserts.sorted { $0.position < $1.position }
        parts.edits = edits.filter { !$0.delta.isKeep }.sorted { $0.position < $1.position }
        recipe = try ListRecipe(parts)
    }
}
