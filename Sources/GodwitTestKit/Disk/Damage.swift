/// What a power cut does to that which was not synced.
struct Damage {
    enum Fate {
        case kept, dropped
        /// Some of its sectors are on the disk, others are not.
        case torn
    }

    enum Pattern: CaseIterable {
        case dropsAll, keepsAll
        /// Writes reach the disk in their order, up to a moment.
        case keepsPrefix
        /// Each write has its own luck.
        case isIndependent
        /// Nearly all was written already.
        case keepsMost
    }

    private let pattern: Pattern
    private let prefixEnd: Int
    private var random: Seeded

    /// - Parameter pending: The numbers of the first and last operation that are in doubt.
    init(seed: UInt64, pending: ClosedRange<Int>?) {
        pattern = Pattern.allCases[Int(seed % UInt64(Pattern.allCases.count))]
        random = Seeded(seed: seed)
        prefixEnd = Int.random(in: pending ?? 0...0, using: &random)
    }

    mutating func fate(of number: Int) -> Fate {
        switch pattern {
        case .dropsAll: .dropped
        case .keepsAll: .kept
        case .keepsPrefix: number == prefixEnd ? .torn : number < prefixEnd ? .kept : .dropped
        case .isIndependent: luck(of: [.kept, .dropped, .torn])
        case .keepsMost: random.happens(0.9) ? .kept : luck(of: [.dropped, .torn])
        }
    }

    mutating func keepsSector() -> Bool { random.happens(0.5) }

    /// Whether a name that appeared, changed or went is found so.
    mutating func keepsName() -> Bool {
        switch pattern {
        case .dropsAll: false
        case .keepsAll: true
        case .keepsPrefix, .isIndependent: random.happens(0.5)
        case .keepsMost: random.happens(0.9)
        }
    }

    private mutating func luck(of fates: [Fate]) -> Fate {
        fates.randomElement(using: &random) ?? .dropped
    }
}
