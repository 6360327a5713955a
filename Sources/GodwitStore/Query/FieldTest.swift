internal import GodwitTree

/// What a query asks of one field.
///
/// ```swift
/// contacts.where(\.city, .oneOf(["Rome", "Oslo"]))
/// contacts.where(\.born, .atLeast(spring))
/// contacts.where(\.name, .hasPrefix("Ro"))
/// contacts.where(\.email, .equal(nil))
/// ```
///
/// Values are compared as an ``StoreIndex`` compares them: numbers as numbers, dates by time, texts by their
/// UTF-8 bytes. A field that is nil or not there equals nil alone, and is neither less nor greater than
/// anything.
public struct FieldTest<Value: Encodable & Sendable>: Sendable {
    /// Where the field's value is to be; nil if a value cannot be compared.
    let ranges: [IndexedRange]?
    var isNegated = false

    private init(_ ranges: [IndexedRange]?) { self.ranges = ranges }

    private init(
        from lower: Value? = nil,
        includingLower: Bool = false,
        to upper: Value? = nil,
        includingUpper: Bool = false
    ) {
        let (low, high) = (
            lower.map(IndexedValue.init(encoding:)), upper.map(IndexedValue.init(encoding:))
        )
        guard low != .some(nil), high != .some(nil) else {
            ranges = nil
            return
        }
        let end = { IndexedRange.End(value: $0, isIncluded: $1) }
        ranges = [
            IndexedRange(
                from: (low ?? nil).map { end($0, includingLower) },
                to: (high ?? nil).map { end($0, includingUpper) }
            )
        ]
    }

    /// The field has this value.
    public static func equal(_ value: Value) -> FieldTest { .oneOf([value]) }

    /// The field has another value, or none.
    public static func notEqual(_ value: Value) -> FieldTest {
        var test = equal(value)
        test.isNegated = true
        return test
    }

    /// The field has one of these values.
    public static func oneOf(_ values: some Sequence<Value>) -> FieldTest {
        var ranges: [IndexedRange] = []
        for value in values {
            guard let value = IndexedValue(encoding: value) else { return FieldTest(nil) }
            ranges.append(IndexedRange(value))
        }
        return FieldTest(ranges)
    }
}

extension FieldTest where Value: Comparable {
    /// The field is less than this value.
    public static func less(than value: Value) -> FieldTest {
        FieldTest(to: value)
    }

    /// The field is this value or less.
    public static func atMost(_ value: Value) -> FieldTest {
        FieldTest(to: value, includingUpper: true)
    }

    /// The field is greater than this value.
    public static func greater(than value: Value) -> FieldTest {
        FieldTest(from: value)
    }

    /// The field is this value or greater.
    public static func atLeast(_ value: Value) -> FieldTest {
        FieldTest(from: value, includingLower: true)
    }

    /// The field lies in a range that includes both ends.
    public static func between(_ range: ClosedRange<Value>) -> FieldTest {
        FieldTest(
            from: range.lowerBound,
            includingLower: true,
            to: range.upperBound,
            includingUpper: true
        )
    }

    /// The field lies in a range that does not include its upper end.
    public static func between(_ range: Range<Value>) -> FieldTest {
        FieldTest(from: range.lowerBound, includingLower: true, to: range.upperBound)
    }
}

/// An enum of texts has an order of its own, and is stored as a text: an index cannot tell which case is less.
extension FieldTest where Value: Comparable & RawRepresentable, Value.RawValue == String {
    @available(*, unavailable, message: "the case is stored as a text; use oneOf(_:)")
    public static func less(than value: Value) -> FieldTest { equal(value) }

    @available(*, unavailable, message: "the case is stored as a text; use oneOf(_:)")
    public static func atMost(_ value: Value) -> FieldTest { equal(value) }

    @available(*, unavailable, message: "the case is stored as a text; use oneOf(_:)")
    public static func greater(than value: Value) -> FieldTest { equal(value) }

    @available(*, unavailable, message: "the case is stored as a text; use oneOf(_:)")
    public static func atLeast(_ value: Value) -> FieldTest { equal(value) }

    @available(*, unavailable, message: "the case is stored as a text; use oneOf(_:)")
    public static func between(_ range: ClosedRange<Value>) -> FieldTest { equal(range.lowerBound) }

    @available(*, unavailable, message: "the case is stored as a text; use oneOf(_:)")
    public static func between(_ range: Range<Value>) -> FieldTest { equal(range.lowerBound) }
}

extension FieldTest where Value: StringProtocol {
    /// The field is a text that begins with this one; case and accents count.
    public static func hasPrefix(_ text: Value) -> FieldTest {
        FieldTest([IndexedRange(prefix: String(text))])
    }
}

extension IndexedValue {
    /// Returns nil for a list, a map, and what no value can hold.
    fileprivate init?(encoding value: some Encodable) {
        guard let value = try? ValueEncoder().encode(value) else { return nil }
        switch value {
        case .list, .map: return nil
        default: self.init(value)
        }
    }
}
