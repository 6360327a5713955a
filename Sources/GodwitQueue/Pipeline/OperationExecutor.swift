/// What does the work of a kind of operations.
enum OperationExecutor: Sendable {
    case single(@Sendable (OperationRun) async throws -> Outcome)
    case batch(max: Int, @Sendable ([OperationRun]) async throws -> [Outcome])
}

/// One operation of a batch.
public struct BatchItem<Work: Sendable>: Sendable {
    public let work: Work
    public let run: OperationRun
}

/// A batch's executor has not said what came of each operation.
struct WrongOutcomeCount: Error, CustomStringConvertible {
    let wanted: Int
    let found: Int

    var description: String { "the executor returned \(found) outcomes for \(wanted) operations" }
}
