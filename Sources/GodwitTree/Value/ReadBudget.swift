// The memory and the steps that a reader may spend.
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

    /// The cost that any compressed input may have, however small it is.
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
