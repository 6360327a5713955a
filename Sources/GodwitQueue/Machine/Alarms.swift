internal import HeapModule

/// When to look at what: the earliest first.
///
/// An alarm that is taken back stays until it is the first, or until ``sweep(keeping:)`` finds that
/// most alarms were taken back.
struct Alarms<Subject: Comparable & Hashable> {
    struct Alarm: Comparable, Hashable {
        let time: Duration
        let subject: Subject

        static func < (left: Alarm, right: Alarm) -> Bool {
            (left.time, left.subject) < (right.time, right.subject)
        }
    }

    private var heap: Heap<Alarm> = []
    private var countMax = Self.countMin

    private static var countMin: Int { 64 }

    var first: Alarm? { heap.min }
    var count: Int { heap.count }

    /// All alarms in any order, those that were taken back among them.
    var all: [Alarm] { heap.unordered }

    mutating func set(_ time: Duration, for subject: Subject) {
        heap.insert(Alarm(time: time, subject: subject))
    }

    mutating func removeFirst() { _ = heap.popMin() }

    mutating func removeAll() { self = Alarms() }

    /// Whether half of all may have been taken back: then ``sweep(keeping:)`` is due.
    var isFull: Bool { heap.count > countMax }

    /// Forgets all alarms but those that count.
    mutating func sweep(keeping current: [Alarm]) {
        heap = Heap(current)
        countMax = max(Self.countMin, 2 * heap.count)
    }
}
