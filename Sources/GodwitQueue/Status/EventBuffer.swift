internal import Synchronization

/// The events that one listener has not read yet, and how many it has missed.
final class EventBuffer: Sendable {
    struct Reference {
        weak var buffer: EventBuffer?
    }

    private struct State {
        var events: [QueueEvent] = []
        /// The events before those, the next one last.
        var reversed: [QueueEvent] = []
        var missedCount = 0
        /// Those that wait for the next event, the one that came first at the beginning.
        var readers: [CheckedContinuation<QueueEvent?, Never>] = []
        var isOver = false

        var count: Int { events.count + reversed.count }

        mutating func next() -> QueueEvent? {
            if reversed.isEmpty {
                reversed = events.reversed()
                events = []
            }
            if let event = reversed.popLast() { return event }
            guard missedCount > 0 else { return nil }
            defer { missedCount = 0 }
            return .missed(missedCount)
        }
    }

    static let countMax = 4_096

    private let state = Mutex(State())

    /// Adds an event; where the listener is too far behind, or has missed one and does not know yet, one
    /// more is missed.
    func put(_ event: QueueEvent) {
        change { state in
            if state.missedCount > 0 || state.count >= Self.countMax {
                state.missedCount += 1
            } else {
                state.events.append(event)
            }
        }
    }

    func miss() { change { $0.missedCount += 1 } }

    /// The next event; nil after the end.
    func next() async -> QueueEvent? {
        await withCheckedContinuation { continuation in
            change { $0.readers.append(continuation) }
        }
    }

    /// Nothing happens any more; events that are there are still read.
    func end() { change { $0.isOver = true } }

    /// Changes the state, and gives the readers the events that they wait for.
    private func change(_ body: (inout State) -> Void) {
        let answers = state.withLock { state in
            body(&state)
            var answers: [(CheckedContinuation<QueueEvent?, Never>, QueueEvent?)] = []
            while !state.readers.isEmpty {
                let event = state.next()
                guard event != nil || state.isOver else { break }
                answers.append((state.readers.removeFirst(), event))
            }
            return answers
        }
        for (reader, event) in answers { reader.resume(returning: event) }
    }
}
