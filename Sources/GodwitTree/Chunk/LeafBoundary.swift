/// The boundary data of a leaf.
///
/// It never changes, so that copies of a leaf share it.
final class LeafBoundary {
    let bytes: [UInt8]
    /// Decides about the boundaries above the leaves.
    let mark: UInt64
    /// Whether the leaf ends where the rule says so, and not because of what follows.
    let isComplete: Bool
    /// Whether elements look like those before them: then more than the bytes decides.
    let hasRepetition: Bool

    /// - Parameter count: How many elements there are, of which a run has only the pattern's bytes.
    init(bytes: [UInt8], count: Int, isComplete: Bool, hasRepetition: Bool) {
        self.bytes = bytes
        self.isComplete = isComplete
        self.hasRepetition = hasRepetition
        var hash = BoundaryHash(kind: 11, UInt64(count))
        bytes.withUnsafeBytes { hash.mixWords($0[...]) }
        mark = hash.bits
    }
}
