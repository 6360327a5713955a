/// What happens to the items of a list.
///
/// Each position addresses an item in exactly one of the two lists: what is removed, edited or
/// moved away is named by its place in the base; what is inserted or arrives by a move, by its
/// place in the result. Nothing shifts within a delta, so the order of its parts means nothing.
/// (Swift's `CollectionDifference` counts in the same way.)
public struct ListDelta: Hashable, Sendable {
    public struct Move: Hashable, Sendable {
        /// The position in the base.
        public let source: Int
        /// The position in the result.
        public let target: Int

        public init(source: Int, target: Int) {
            self.source = source
            self.target = target
        }
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

    /// Positions in the base, ascending.
    public private(set) var removes: [Int] = []
    /// By source, ascending.
    public private(set) var moves: [Move] = []
    /// By position, ascending.
    public private(set) var inserts: [Insert] = []
    /// By position, ascending.
    public private(set) var edits: [Edit] = []

    /// Nothing happens to any item.
    private init() {}

    /// Positions beyond this are refused, so that no arithmetic on them can overflow.
    public static let positionMax = 1 << 40

    var isEmpty: Bool {
        removes.isEmpty && moves.isEmpty && inserts.isEmpty && edits.isEmpty
    }

    /// How much longer the result is than the base.
    var growth: Int { inserts.count - removes.count }
}

extension ListDelta {
    /// Puts a delta together from parts in any order, and brings it into normal form.
    ///
    /// - Throws: ``TreeError/invalidDelta(reason:)`` when the parts contradict each other.
    public init(
        removes: [Int] = [],
        moves: [Move] = [],
        inserts: [Insert] = [],
        edits: [Edit] = []
    ) throws(TreeError) {
        var raw = ListDelta()
        raw.removes = removes.sorted()
        raw.moves = moves.sorted { $0.source < $1.source }
        raw.inserts = inserts.sorted { $0.position < $1.position }
        raw.edits = edits.filter { $0.delta != .keep }.sorted { $0.position < $1.position }
        try raw.checkParts()
        self = raw.recipe.delta
    }

    /// Takes parts that a recipe has put in order.
    init(ordered removes: [Int], _ moves: [Move], _ inserts: [Insert], _ edits: [Edit]) {
        self.removes = removes
        self.moves = moves
        self.inserts = inserts
        self.edits = edits
    }

    private func checkParts() throws(TreeError) {
        let gone = (removes + moves.map(\.source)).sorted()
        let arriving = (moves.map(\.target) + inserts.map(\.position)).sorted()
        let edited = edits.map(\.position)
        for positions in [gone, arriving, edited] {
            guard positions.allSatisfy({ (0...Self.positionMax).contains($0) }) else {
                throw .invalidDelta(reason: "a position is out of range")
            }
            guard zip(positions, positions.dropFirst()).allSatisfy({ $0 < $1 }) else {
                throw .invalidDelta(reason: "two parts claim one position of a list")
            }
        }
        guard Set(removes).isDisjoint(with: edited) else {
            throw .invalidDelta(reason: "an item is both removed and edited")
        }
    }

    /// Throws unless every position exists in a list of `count` items and in the result.
    func check(count: Int, at path: Path) throws(TreeError) {
        let resultCount = count + growth
        let last = max(removes.last ?? -1, moves.last?.source ?? -1, edits.last?.position ?? -1)
        guard last < count else {
            throw .wrongBase(path: path, reason: "there is no item \(last) in a list of \(count)")
        }
        let lastResult = max(inserts.last?.position ?? -1, moves.map(\.target).max() ?? -1)
        guard lastResult < resultCount else {
            throw .wrongBase(
                path: path,
                reason: "no item can come to \(lastResult) in a list of \(resultCount)"
            )
        }
    }
}
