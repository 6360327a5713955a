/// Random numbers that a test can repeat: the same seed gives the same numbers everywhere.
///
/// ```swift
/// var random = Seeded(seed: 7)
/// Int.random(in: 0..<10, using: &random)
/// ```
///
/// The generator is SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom
/// number generators, 2014). It is not for secrets.
public struct Seeded: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// Whether something of this probability happens.
    public mutating func happens(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }
}
