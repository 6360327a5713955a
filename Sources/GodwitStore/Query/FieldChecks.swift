internal import GodwitTree
internal import Synchronization

/// Looks whether the fields of a query are where the type stores its properties.
///
/// A property that `CodingKeys` name differently would be found nowhere, and nothing would say so.
struct FieldChecks<Object: Codable & Sendable>: Sendable {
    fileprivate struct Check: Sendable {
        let field: Field
        let value: @Sendable (Object) throws -> Value
    }

    /// Why the query cannot be answered at all.
    private(set) var problem: StoreError?
    private var checks: [Check] = []

    init() {}

    /// - Parameter field: The field that the path is taken to name; nil if it names none.
    init<Property: Encodable & Sendable>(
        _ path: any KeyPath<Object, Property> & Sendable,
        named field: Field?
    ) {
        guard let field else {
            let reason = "it is no stored property; name the field it is stored in by Field(\"…\")"
            problem = .unusableField("\(path)", reason: reason)
            return
        }
        checks = [Check(field: field) { try ValueEncoder().encode($0[keyPath: path]) }]
    }

    func adding(problem: StoreError) -> FieldChecks {
        var result = self
        result.problem = self.problem ?? problem
        return result
    }

    static func + (left: FieldChecks, right: FieldChecks) -> FieldChecks {
        var result = left
        result.problem = left.problem ?? right.problem
        result.checks += right.checks
        return result
    }
}

extension FieldChecks {
    /// How many objects are looked at until each property has had a value.
    private static var objectsMax: Int { 8 }

    /// The fields that no object has told yet: this depends on the type alone.
    private var unsettled: [Check] {
        checks.isEmpty
            ? [] : settledFields.withLock { settled in checks.filter { !settled.contains($0.id) } }
    }

    /// Looks whether the collection's first objects have the properties where the query looks for them.
    ///
    /// - Throws: ``StoreError/unusableField(_:reason:)``.
    func check(_ collection: StoreCollection<Object>, _ lookup: any ObjectLookup) throws {
        if let problem { throw problem }
        var open = unsettled
        guard !open.isEmpty else { return }
        do {
            try lookup.forEachObject(of: collection.name, KeyWalk(limit: Self.objectsMax)) {
                key,
                stored in
                let place = collection.place(key)
                guard let object = try? stored.object(at: place, in: collection) else {
                    return true
                }
                let value = try ValueEncoder().encode(object)
                try open.removeAll { check in
                    guard try isSettled(check, by: object, value) else { return false }
                    settledFields.withLock { _ = $0.insert(check.id) }
                    return true
                }
                return !open.isEmpty
            }
        } catch let error as StoreError where error.isOfOneObject || error.isDamage {
            // The query itself may not come to that object.
        }
    }

    /// Whether the object tells that the property is stored in the field: a property without a value is
    /// nowhere.
    private func isSettled(_ check: Check, by object: Object, _ stored: Value) throws -> Bool {
        let (value, found) = (try check.value(object), check.field.value(in: stored))
        guard found == nil || found == value else { throw check.problem(in: Object.self) }
        guard found == nil, value != .null else { return found != nil }
        throw check.problem(in: Object.self)
    }
}

extension FieldChecks.Check {
    fileprivate func problem(in type: Object.Type) -> StoreError {
        let reason = "\(type) stores the property under another name; name it by Field(\"…\")"
        return .unusableField(field.description, reason: reason)
    }
}

/// A field of a type.
private struct TypedField: Hashable, Sendable {
    let type: ObjectIdentifier
    let field: Field
}

/// The fields of which an object has told that the type stores the property there.
private let settledFields = Mutex<Set<TypedField>>([])

extension FieldChecks.Check {
    fileprivate var id: TypedField { TypedField(type: ObjectIdentifier(Object.self), field: field) }
}
