/// A sequence has ended before the awaited element.
public struct NeverReached: Error {}

extension AsyncSequence where Failure == Never {
    /// Waits for an element that is looked for.
    ///
    /// - Throws: ``NeverReached`` when the sequence ends before.
    public func reaches(
        isolation: isolated (any Actor)? = #isolation,
        _ isWanted: (Element) -> Bool
    ) async throws {
        var iterator = makeAsyncIterator()
        while let element = await iterator.next(isolation: isolation) {
            if isWanted(element) { return }
        }
        throw NeverReached()
    }
}
