/// Operations whose transfers go on outside of this process.
struct MarkedTransfers {
    var active: Set<OperationNumber> = []
    /// What becomes of these is recorded in a moment: they are not interrupted, and may not run any more.
    var ending: Set<OperationNumber> = []

    mutating func formUnion(_ other: MarkedTransfers) {
        active.formUnion(other.active)
        ending.formUnion(other.ending)
    }
}
