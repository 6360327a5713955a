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
        var reader: CheckedContinuation<QueueEvent?, Never>?
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
            change { $0.reader = continuation }
        }
    }

    func end() { change { $0.isOver = true } }

    /// Changes the state, and gives the reader what it waits for.
    private func change(_ body: (inout State) -> Void) {
        let answer = state.withLock {
            state -> (CheckedContinuation<QueueEvent?, Never>, QueueEvent?)? in
            body(&state)
            guard let reader = state.reader else { return nil }
            let event = state.isOver ? nil : state.next()
            guard event != nil || state.isOver else { return nil }
            state.reader = nil
            return (reader, event)
        }
        if let (reader, event) = answer { reader.resume(returning: event) }
    }
}
