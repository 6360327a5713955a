internal import GodwitTree

extension ObjectReader where Self: ~Copyable {
    /// The sum of an integer property over the objects that a query finds; 0 for none.
    ///
    /// ```swift
    /// let open = invoices.where(\.isPaid, .equal(false))
    /// let cents = try await store.read { try $0.sum(\.cents, of: open) }
    /// ```
    ///
    /// If an index answers the query and has the property, no object is read: here, one on `isPaid` and
    /// `cents`.
    ///
    /// - Throws: ``StoreError/unusableField(_:reason:)`` also for a sum beyond the type's range, and what
    ///   ``objects(_:)-(StoreQuery<Object>)`` throws.
    public borrowing func sum<Object, Number: FixedWidthInteger & Codable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Number {
        var total: Number = 0
        try forEachNumber(path, of: query) { value, field in
            guard case .int(let int) = value, let number = Number(exactly: int) else { return }
            let (sum, overflows) = total.addingReportingOverflow(number)
            guard !overflows else {
                let reason = "the sum is beyond the range of \(Number.self)"
                throw StoreError.unusableField(field.description, reason: reason)
            }
            total = sum
        }
        return total
    }

    /// The sum of a property that is a `Double` or a `Float` over the objects that a query finds; 0 for none.
    public borrowing func sum<Object, Number: BinaryFloatingPoint & Codable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Number {
        var total: Number = 0
        try forEachNumber(path, of: query) { value, _ in
            total += value.double.map { Number($0) } ?? 0
        }
        return total
    }

    /// The mean of an integer property over the objects that a query finds; nil for none.
    public borrowing func average<Object, Number: FixedWidthInteger & Codable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Double? {
        try mean(path, of: query)
    }

    /// The mean of a property that is a `Double` or a `Float` over the objects that a query finds; nil for none.
    public borrowing func average<Object, Number: BinaryFloatingPoint & Codable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Double? {
        try mean(path, of: query)
    }

    private borrowing func mean<Object, Number: Encodable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Double? {
        var (total, count) = (0.0, 0)
        try forEachNumber(path, of: query) { value, _ in
            guard let double = value.double else { return }
            total += double
            count += 1
        }
        return count == 0 ? nil : total / Double(count)
    }

    private borrowing func forEachNumber<Object, Number: Encodable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>,
        _ body: (IndexedValue, Field) throws -> Void
    ) throws {
        let field = Field(named: path)
        let checks = FieldChecks<Object>(path, named: field)
        try checks.check(query.collection, source.objects)
        guard let field else { return }
        try QueryRun(query, source.objects).forEachValue(of: field) { try body($0, field) }
    }
}

extension IndexedValue {
    fileprivate var double: Double? {
        switch self {
        case .int(let int): Double(int)
        case .double(let double): double
        case .none, .text, .bytes: nil
        }
    }
}
