internal import GodwitTree

/// The values of a field between two ends.
struct IndexedRange: Hashable, Sendable {
    /// An end of a range.
    struct End: Hashable, Sendable {
        let value: IndexedValue
        let isIncluded: Bool
    }

    /// nil for no lower end.
    private(set) var lower: End?
    /// nil for no upper end.
    private(set) var upper: End?

    static let all = IndexedRange(lower: nil, upper: nil)

    init(lower: End?, upper: End?) { (self.lower, self.upper) = (lower, upper) }

    /// One value alone.
    init(_ value: IndexedValue) {
        lower = End(value: value, isIncluded: true)
        upper = lower
    }

    /// The values of the same kind as those of the ends: a number is neither less nor greater than a text.
    init(from lower: End?, to upper: End?) {
        let kind = lower?.value ?? upper?.value
        self.lower = lower ?? kind.map { End(value: $0.leastOfKind, isIncluded: true) }
        self.upper = upper ?? kind?.leastOfNextKind.map { End(value: $0, isIncluded: false) }
    }

    /// The texts that begin with another one.
    init(prefix: String) {
        let keys = KeyRange.prefix(prefix)
        self.init(
            from: End(value: .text(Key(prefix)), isIncluded: true),
            to: keys.upper.map { End(value: .text(Key($0)), isIncluded: false) }
        )
    }

    /// The one value of the range; nil if there may be several.
    var onlyValue: IndexedValue? {
        guard let lower, lower == upper, lower.isIncluded else { return nil }
        return lower.value
    }

    func contains(_ value: IndexedValue) -> Bool {
        let isAbove = lower.map { $0.value < value || $0.isIncluded && !(value < $0.value) }
        let isBelow = upper.map { value < $0.value || $0.isIncluded && !($0.value < value) }
        return (isAbove ?? true) && (isBelow ?? true)
    }

    /// The values of both ranges.
    func intersection(_ other: IndexedRange) -> IndexedRange {
        IndexedRange(
            lower: Self.inner(lower, other.lower) { $1 < $0 },
            upper: Self.inner(upper, other.upper) { $0 < $1 }
        )
    }

    private static func inner(
        _ end: End?,
        _ other: End?,
        by isInner: (IndexedValue, IndexedValue) -> Bool
    ) -> End? {
        guard let end, let other else { return end ?? other }
        if isInner(end.value, other.value) { return end }
        if isInner(other.value, end.value) { return other }
        return end.isIncluded ? other : end
    }
}

extension IndexedValue {
    /// The least value that compares with this one.
    fileprivate var leastOfKind: IndexedValue {
        switch self {
        case .none: .none
        case .int, .double: .double(-.greatestFiniteMagnitude)
        case .text: .text("")
        case .bytes: .bytes([])
        }
    }

    /// The least value of the kind that comes after this one's; nil after bytes.
    fileprivate var leastOfNextKind: IndexedValue? {
        switch self {
        case .none: .double(-.greatestFiniteMagnitude)
        case .int, .double: .text("")
        case .text: .bytes([])
        case .bytes: nil
        }
    }
}
