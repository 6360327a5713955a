/// Which objects of a type a query finds.
///
/// ```swift
/// let isNear = Filter<Contact>(\.city, .equal("Rome")) || Filter(\.city, .equal("Ostia"))
/// let query = contacts.where(isNear && !Filter(\.isHidden, .equal(true)))
/// ```
public struct Filter<Object: Codable & Sendable>: Sendable {
    let criterion: Criterion
    let fields: FieldChecks<Object>

    /// A test of the field behind a key path of stored properties.
    public init<Value: Encodable & Sendable>(
        _ path: any KeyPath<Object, Value> & Sendable,
        _ test: FieldTest<Value>
    ) {
        let named = Field(named: path)
        self.init(named ?? Field(), test, FieldChecks(path, named: named))
    }

    /// A test of the field behind a key path of stored properties, one of which is optional.
    public init<Value: Encodable & Sendable>(
        _ path: any KeyPath<Object, Value?> & Sendable,
        _ test: FieldTest<Value>
    ) {
        let named = Field(named: path)
        self.init(named ?? Field(), test, FieldChecks(path, named: named))
    }

    /// A test of a field that the type stores under this name.
    public init<Value: Encodable & Sendable>(_ field: Field, _ test: FieldTest<Value>) {
        self.init(field, test, FieldChecks())
    }

    private init<Value: Encodable & Sendable>(
        _ field: Field,
        _ test: FieldTest<Value>,
        _ checks: FieldChecks<Object>
    ) {
        let found = Criterion.field(field, test.ranges ?? [])
        criterion = test.isNegated ? .not(found) : found
        let reason =
            "only numbers, texts, bytes, dates and what is stored as one of these are compared"
        let problem = StoreError.unusableField(field.description, reason: reason)
        fields = test.ranges == nil ? checks.adding(problem: problem) : checks
    }

    private init(_ criterion: Criterion, _ fields: FieldChecks<Object>) {
        (self.criterion, self.fields) = (criterion, fields)
    }

    public static func && (left: Filter, right: Filter) -> Filter {
        Filter(left.criterion.and(right.criterion), left.fields + right.fields)
    }

    public static func || (left: Filter, right: Filter) -> Filter {
        Filter(left.criterion.or(right.criterion), left.fields + right.fields)
    }

    public static prefix func ! (filter: Filter) -> Filter {
        Filter(.not(filter.criterion), filter.fields)
    }
}
