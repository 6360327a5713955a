/// A point in time, twice: what a stopwatch shows and what the calendar says.
///
/// The stopwatch never jumps, and times every delay of the queue's own. The calendar may jump; it
/// decides only about dates that the app has named.
struct Moment: Hashable, Sendable {
    var elapsed: Duration
    /// Milliseconds since 1970.
    var calendar: Int64

    static let zero = Moment(elapsed: .zero, calendar: 0)
}

/// How long an operation is held.
enum Deadline: Hashable, Sendable {
    /// For some time: no jump of the calendar makes it longer or shorter.
    case elapsed(Duration)
    /// To a date that the app named, in milliseconds since 1970.
    case calendar(Int64)
    /// Until the app releases it.
    case never

    func isPast(at now: Moment) -> Bool {
        switch self {
        case .elapsed(let deadline): now.elapsed >= deadline
        case .calendar(let date): now.calendar >= date
        case .never: false
        }
    }

    /// When to look again; a date is looked at once a minute, for the calendar may jump.
    func nextLook(at now: Moment) -> Duration? {
        switch self {
        case .elapsed(let deadline): return deadline
        case .calendar(let date):
            let left = max(date &- now.calendar, 0)
            return now.elapsed + min(.milliseconds(min(left, 60_000)), Self.lookMax)
        case .never: return nil
        }
    }

    static let lookMax = Duration.seconds(60)
}
