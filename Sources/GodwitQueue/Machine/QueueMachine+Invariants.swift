internal import GodwitStore

extension QueueMachine {
    /// Stops the program when an invariant is broken; for tests.
    ///
    /// O(n).
    func checkInvariants() {
        schedule.checkInvariants()
        let looked = Set(looks.all.map(\.subject.number))
        let rests = Set(rests.all)
        for number in schedule.numbers {
            let isHeld = holds[number] != nil
            precondition(schedule.position(of: number)?.isHeld == isHeld, "(1)")
            let ends = (holds[number] ?? [:]).values.contains { $0 != .never }
            precondition(!ends || looked.contains(number), "(2)")
        }
        precondition(rests.isSuperset(of: resting), "(5)")
        for (lane, rules) in lanes.enumerated() {
            let hasReason =
                !suspensions.isEmpty || !rules.suspensions.isEmpty
                || !rules.requirements.missing(in: conditions).isEmpty
            precondition(schedule.lanes[lane].isSuspended == hasReason, "(4)")
        }
    }
}
