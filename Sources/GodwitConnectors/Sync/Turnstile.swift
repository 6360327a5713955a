/// Lets one task through at a time, in the order of their arrival.
actor Turnstile {
    private var isOccupied = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        if isOccupied {
            await withCheckedContinuation { waiting.append($0) }
        }
        isOccupied = true
        defer { leave() }
        try Task.checkCancellation()
        return try await body()
    }

    /// Hands the gate to the next in line, so that a newcomer does not get in between.
    private func leave() {
        if waiting.isEmpty { isOccupied = false } else { waiting.removeFirst().resume() }
    }
}
