package import GodwitStore
internal import GodwitTree

// Finds the objects in which two replicas differ (A. Meyer, "Range-Based Set Reconciliation", 2023).
//
// The device sends ranges of keys with their sums. Where a sum differs, the server cuts its range
// into parts of about equally many objects and sends their sums, or, where the range has few
// objects, the objects. The device asks again for the parts that differ. Each round divides the
// ranges by `fanOut`, so *d* differences in *n* objects take O(log n) rounds and O(d log n) sums.

/// Objects in the order of their keys, as both sides of a comparison have them.
package protocol ComparedObjects {
    associatedtype Failure: Error

    /// The sum of the objects in a range.
    func sum(of span: KeySpan) throws(Failure) -> CollectionSum

    /// The objects in a range; nil when they have more than `sizeMax` canonical bytes.
    func objects(
        in span: KeySpan,
        sizeMax: Int
    ) throws(Failure) -> [ObjectKey: VersionedValue]?

    /// Up to `count` - 1 keys that cut a range into parts of about equally many objects, ascending.
    func cuts(of span: KeySpan, into count: Int) throws(Failure) -> [ObjectKey]
}

/// The server's answer about one range.
package enum SpanAnswer: Hashable, Sendable {
    case equal
    /// All objects that the server has in the range.
    case objects([ObjectKey: VersionedValue])
    /// The parts of the range.
    case parts([SpanSum])
}

/// The server's half of a comparison.
package enum RangeMachine {
    /// A range of so few objects is sent, not cut.
    static let objectCountMax = 16
    /// The same, where the device has none.
    static let newCountMax = 1_024
    /// After so many objects an answer leaves the other ranges for the next request.
    static let answerCountMax = 4_096
    /// After so many bytes of objects, too.
    package static let answerSizeMax = 4 << 20
    /// Into how many parts a range is cut.
    static let fanOut = 16

    /// - Parameter sizeMax: How many canonical bytes several objects may have.
    static func answer<Objects: ComparedObjects>(
        _ range: SpanSum,
        _ objects: Objects,
        sizeMax: Int = answerSizeMax
    ) throws(Objects.Failure) -> SpanAnswer {
        let sum = try objects.sum(of: range.span)
        if sum == range.sum { return .equal }
        let countMax = range.sum.count > 0 ? objectCountMax : newCountMax
        if sum.count <= countMax,
            let found = try objects.objects(
                in: range.span,
                sizeMax: sum.count > 1 ? sizeMax : .max
            )
        {
            return .objects(found)
        }
        var parts: [SpanSum] = []
        for part in range.span.cut(before: try objects.cuts(of: range.span, into: fanOut)) {
            parts.append(SpanSum(part, try objects.sum(of: part)))
        }
        return .parts(parts)
    }
}

extension RangeMachine {
    /// The answers to some ranges: all of them, or the first ones that fit into one message.
    package static func answers<Objects: ComparedObjects>(
        to request: RangeRequest,
        _ objects: Objects
    ) throws(Objects.Failure) -> [SpanAnswer] {
        var answers: [SpanAnswer] = []
        var (count, size) = (0, 0)
        let sizeMax = min(request.sizeMax, answerSizeMax)
        for range in request.ranges where count < answerCountMax && (size < sizeMax || count == 0) {
            let answer = try answer(range, objects, sizeMax: sizeMax)
            answers.append(answer)
            guard case .objects(let objects) = answer else { continue }
            count += objects.count
            size += objects.values.reduce(0) { $0 + $1.value.canonicalBytes.count }
        }
        return answers
    }
}

/// Ranges to be compared.
package struct RangeRequest: Hashable, Sendable {
    package var ranges: [SpanSum]
    /// About how many canonical bytes of objects the answer may have, beside one large object.
    package var sizeMax = RangeMachine.answerSizeMax

    func limited(to sizeMax: Int) -> RangeRequest {
        RangeRequest(ranges: ranges, sizeMax: min(self.sizeMax, sizeMax))
    }
}

/// The device's half of a comparison.
struct RangeComparison: Hashable, Sendable {
    /// How many ranges a request has.
    static let requestCountMax = 256

    /// About how many canonical bytes of objects the next answer may have.
    var answerSizeMax = RangeMachine.answerSizeMax
    /// The ranges that are left to ask for; empty when all differences are found.
    private(set) var open: [SpanSum] = []
    /// What each answer has told, so that one more answer does not copy what the ones before it told.
    private var told: [[ObjectKey: VersionedValue?]] = []
    private let fetched: FetchedObjects
    /// By how many objects the server has more than the device in each open range; nil before it is told.
    private var missing: [Int]?

    /// - Parameter fetched: What an earlier comparison, which was cut off, had found.
    init<Objects: ComparedObjects>(
        _ objects: Objects,
        fetched: FetchedObjects = .none
    ) throws(Objects.Failure) {
        self.fetched = fetched
        open = [SpanSum(.all, try sum(of: .all, objects))]
    }

    /// The server's objects where they differ from the device's; nil where it has none.
    ///
    /// Of those that an earlier comparison had found, some may be the device's again.
    ///
    /// - Complexity: O(*n*) in the differences.
    var differences: [ObjectKey: VersionedValue?] {
        told.reduce(into: fetched.differences) { $0.merge($1) { $1 } }
    }

    /// How many differences it has found, of how many at least; nil before the first answer.
    var progress: DownloadProgress? {
        guard let missing else { return nil }
        let count = told.reduce(fetched.differences.count) { $0 + $1.count }
        return DownloadProgress(
            completedCount: count,
            totalCount: count + missing.reduce(0, +)
        )
    }

    private func sum<Objects: ComparedObjects>(
        of span: KeySpan,
        _ objects: Objects
    ) throws(Objects.Failure) -> CollectionSum {
        var sum = try objects.sum(of: span)
        fetched.replace(in: &sum, of: span)
        return sum
    }

    /// The next request.
    var next: RangeRequest {
        RangeRequest(ranges: Array(open.prefix(Self.requestCountMax)), sizeMax: answerSizeMax)
    }

    /// Takes in the answers to the ranges of the last request, or the first ones of them, in their order.
    ///
    /// - Returns: The differences that they have told.
    /// - Throws: ``ReplicationError/malformedMessage(reason:)`` when the answers do not belong to
    ///   these ranges.
    @discardableResult
    mutating func receive<Objects: ComparedObjects>(
        _ answers: [SpanAnswer],
        _ objects: Objects
    ) throws -> [ObjectKey: VersionedValue?] {
        guard (1...next.ranges.count).contains(answers.count) else {
            throw ReplicationError.malformedMessage(reason: "a range has one answer")
        }
        var parted: [(range: SpanSum, missing: Int)] = []
        var told: [ObjectKey: VersionedValue?] = [:]
        for (range, answer) in zip(open, answers) {
            switch answer {
            case .equal: break
            case .parts(let parts):
                guard parts.map(\.span) == range.span.cut(before: parts.bounds),
                    (2...RangeMachine.fanOut).contains(parts.count),
                    range.span.isCut(by: parts.bounds)
                else {
                    throw ReplicationError.malformedMessage(reason: "the parts are not the range")
                }
                for part in parts {
                    let sum = try sum(of: part.span, objects)
                    guard sum != part.sum else { continue }
                    // The counts are the peer's: their sum must not overflow.
                    let missing = min(max(part.sum.count - sum.count, 0), 1 << 32)
                    parted.append((SpanSum(part.span, sum), Int(missing)))
                }
            case .objects(let found):
                var own = try objects.objects(in: range.span, sizeMax: .max) ?? [:]
                fetched.replace(in: &own, of: range.span)
                for key in Set(own.keys).union(found.keys) where own[key] != found[key] {
                    told[key] = .some(found[key])
                }
            }
        }
        open = open.dropFirst(answers.count) + parted.map(\.range)
        missing = (missing ?? [0]).dropFirst(answers.count) + parted.map(\.missing)
        if !told.isEmpty { self.told.append(told) }
        return told
    }
}

extension [SpanSum] {
    /// Where one range ends and the next begins.
    fileprivate var bounds: [ObjectKey] { dropFirst().compactMap(\.span.lower) }
}

/// Objects in memory.
package struct SortedObjects: ComparedObjects {
    private let keys: [ObjectKey]
    private let objects: [ObjectKey: VersionedValue]

    package init(_ objects: [ObjectKey: VersionedValue]) {
        self.objects = objects
        keys = objects.keys.sorted { $0.precedes($1) }
    }

    package func sum(of span: KeySpan) -> CollectionSum {
        var sum = CollectionSum.empty
        for key in keys[keys.indices(in: span)] {
            sum.replace(nil, with: objects[key], at: key)
        }
        return sum
    }

    /// The sum of all objects.
    func total() -> ContentSum {
        var sum = ContentSum.empty
        for (key, object) in objects { sum.replace(nil, with: object, at: key) }
        return sum
    }

    package func objects(in span: KeySpan, sizeMax: Int) -> [ObjectKey: VersionedValue]? {
        var found: [ObjectKey: VersionedValue] = [:]
        for key in keys[keys.indices(in: span)] { found[key] = objects[key] }
        guard sizeMax < .max else { return found }
        let size = found.values.reduce(0) { $0 + $1.value.canonicalBytes.count }
        return size <= sizeMax ? found : nil
    }

    package func cuts(of span: KeySpan, into count: Int) -> [ObjectKey] {
        Array(keys[keys.indices(in: span)]).cuts(into: count)
    }
}

extension [ObjectKey] {
    /// The keys before which some ascending keys are cut into parts of about equally many.
    ///
    /// - Precondition: There are some.
    package func cuts(into parts: Int) -> [ObjectKey] {
        (1..<parts).map { self[$0 * count / parts] }.reduce(into: []) { cuts, key in
            if cuts.last != key, key != first { cuts.append(key) }
        }
    }
}
