// What a reader may spend.
//
// A few bytes can stand for very much: a frame that unfolds, a list of a million empty places, a
// patch that copies a document into itself. So each reader knows what a thing will cost before it
// makes room for it, and takes that off its budget first.
//
//   (1) Memory is counted as what the thing takes while it is read, not only afterwards; the costs
//       are measured, and a little too high.
//   (2) A count is paid for when it is read, before the first of the things counted.
//   (3) Steps are counted where they are not paid for by memory: where something that is there
//       already is walked through.

/// How much memory and how many steps a reader may spend on one input.
///
/// ```swift
/// let value = try Value(json: body, budget: .request)
/// ```
///
/// A reader that would need more throws ``TreeError/overBudget(_:limit:)`` before it takes it.
public struct ReadBudget: Hashable, Sendable {
    public enum Resource: String, Sendable {
        case memory = "bytes of memory"
        case steps
    }

    /// About how many bytes of memory may be taken, for the result and on the way to it.
    public var memoryMax: Int
    /// How many elements may be walked through that the input does not spell out.
    public var stepsMax: Int
    /// How many bytes of memory one byte of a compressed input may cost, where that is more than
    /// ``unfoldedMin``.
    public var unfoldingMax = 1 << 10

    public init(memoryMax: Int, stepsMax: Int = 1 << 26) {
        self.memoryMax = memoryMax
        self.stepsMax = stepsMax
    }

    /// For input from the user's own devices: 1 GiB, or some million items.
    public static let standard = ReadBudget(memoryMax: 1 << 30)

    /// For untrusted requests, many at a time: 16 MiB.
    public static let request = ReadBudget(memoryMax: 1 << 24, stepsMax: 1 << 20)

    /// For a body of a request that is in memory already: 16 MiB, and eight times its size.
    public static func request(sizeInBytes: Int) -> ReadBudget {
        ReadBudget(memoryMax: request.memoryMax + 8 * sizeInBytes, stepsMax: request.stepsMax)
    }

    /// For what this program has written itself.
    public static let unlimited: ReadBudget = {
        var budget = ReadBudget(memoryMax: .max, stepsMax: .max)
        budget.unfoldingMax = .max
        return budget
    }()

    /// What any compressed input may cost, however small it is.
    public static let unfoldedMin = 1 << 23

    /// The budget for what unfolds from so many bytes, and from a prefix that is there already.
    func forUnfolding(_ sizeInBytes: Int, prefixSizeInBytes: Int) -> ReadBudget {
        let prefix = Self.prefixFactor * prefixSizeInBytes
        let (cost, isTooMuch) = unfoldingMax.multipliedReportingOverflow(by: sizeInBytes)
        guard !isTooMuch, cost < .max - Self.unfoldedMin - prefix else { return self }
        var budget = self
        budget.memoryMax = min(memoryMax, Self.unfoldedMin + prefix + cost)
        return budget
    }

    /// A byte that is found again in the prefix has cost this much already where it stands.
    private static let prefixFactor = 64
}

/// What is left of a budget.
package struct ReadMeter {
    private let budget: ReadBudget
    private var memoryLeft: Int
    private var stepsLeft: Int

    package init(_ budget: ReadBudget) {
        self.budget = budget
        memoryLeft = max(0, budget.memoryMax)
        stepsLeft = max(0, budget.stepsMax)
    }

    /// What is left, as a budget.
    package var left: ReadBudget {
        var left = budget
        (left.memoryMax, left.stepsMax) = (max(0, memoryLeft), max(0, stepsLeft))
        return left
    }

    /// Takes what another meter has spent, which began with a part of this one's budget.
    mutating func take(spentBy other: ReadMeter) throws(TreeError) {
        try take(memory: other.budget.memoryMax - other.memoryLeft)
        try take(steps: other.budget.stepsMax - other.stepsLeft)
    }

    package mutating func take(memory: Int) throws(TreeError) {
        memoryLeft -= memory
        guard memoryLeft >= 0 else { throw .overBudget(.memory, limit: budget.memoryMax) }
    }

    mutating func take(steps: Int) throws(TreeError) {
        stepsLeft -= steps
        guard stepsLeft >= 0 else { throw .overBudget(.steps, limit: budget.stepsMax) }
    }

    /// Takes memory for so many things, which the input counts but has not shown yet.
    ///
    /// - Precondition: The input is as long as the count, so that the product is in range.
    mutating func take(_ count: Int, each memory: Int) throws(TreeError) {
        try take(memory: count * memory)
    }
}

/// What things take in memory while they are read.
package enum ReadCost {
    /// A list with the places of its items.
    static func list(_ count: Int) -> Int { container(count, each: 24, collectedEach: 48) }

    /// A map with its keys, but for long ones, and the places of their values.
    static func map(_ count: Int) -> Int { container(count, each: 40, collectedEach: 120) }

    /// What an item adds to its list, which has so many items with it.
    package static func item(_ count: Int) -> Int { list(count) - list(count - 1) }

    /// What an entry adds to its map, which has so many entries with it.
    package static func entry(_ count: Int) -> Int { map(count) - map(count - 1) }

    /// What a container takes.
    ///
    /// A short one is a single allocation. A longer one has leaves, which know their boundaries. The
    /// array in which a reader collects the elements counts where it is large.
    private static func container(_ count: Int, each: Int, collectedEach: Int) -> Int {
        switch count {
        case 0: 0
        case ..<ChunkBoundary.countMin: 80 + count * each
        case ..<ChunkBoundary.countMax: 192 + count * (each + 12)
        default: 192 + count * (each + 12 + collectedEach)
        }
    }

    /// The memory of a scalar besides its place.
    static func scalar(_ value: Value) -> Int {
        switch value {
        case .string(let key): bytes(key.sizeInBytes)
        case .bytes(let content): bytes(content.count)
        default: 0
        }
    }

    /// The bytes of a base that are a prefix, of a size that is estimated, while they are written.
    static func prefix(_ sizeInBytes: Int) -> Int { 4 * sizeInBytes }

    /// A string that has memory of its own, besides its bytes.
    static let string = 64
    /// An operation of a JSON Patch, and a step on the way of its pointers.
    static let operation = 320
    static let token = 112

    /// An element of EDN, and the scalar or the part of a delta that it becomes.
    static let form = 144
    /// The elements between brackets, and the container that they become.
    static let forms = 192
    /// A tag or a discard that waits for its element: more than it takes, because no element needs
    /// many.
    static let tag = 160

    enum Part {
        static let entry = 112
        static let splice = 128
        static let remove = 112
        static let edit = 112
        static let move = 184
        /// With the place of its value.
        static let insert = 160
    }

    /// What text and byte strings of a size take.
    package static func bytes(_ count: Int) -> Int { count > 15 ? string + count : 0 }
}
