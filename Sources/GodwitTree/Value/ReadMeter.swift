/// The rest of a budget.
package struct ReadMeter {
    private let budget: ReadBudget
    private var memoryLeft: Int
    private var stepsLeft: Int

    package init(_ budget: ReadBudget) {
        self.budget = budget
        memoryLeft = max(0, budget.memoryMax)
        stepsLeft = max(0, budget.stepsMax)
    }

    /// The rest, as a budget.
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
