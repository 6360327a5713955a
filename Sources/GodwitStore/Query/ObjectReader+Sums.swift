internal import GodwitTree

extension ObjectReader where Self: ~Copyable {
    /// The sum of an integer property over the objects that a query finds; 0 for none.
    ///
    /// ```swift
    /// let open = invoices.where(\.isPaid, .equal(false))
    /// let cents = try await store.read { try $0.sum(\.cents, of: open) }
    /// ```
    ///
    /// If an index answers the query and has the property, a transaction reads no object: here, one on `isPaid`
    /// and `cents`. An object that the type cannot read adds the number that is stored in it.
    ///
    /// - Throws: ``StoreError/unusableField(_:reason:)`` also for a sum beyond the type's range, and what
    ///   ``objects(_:)-(StoreQuery<Object>)`` throws.
    public borrowing func sum<Object, Number: FixedWidthInteger & Codable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Number {
        try total(path, of: query)
    }

    /// The sum of an optional integer property over the objects that a query finds; those with nil add nothing.
    public borrowing func sum<Object, Number: FixedWidthInteger & Codable & Sendable>(
        _ path: any KeyPath<Object, Number?> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Number {
        try total(path, of: query)
    }

    private borrowing func total<Object, Property: Encodable & Sendable, Number: FixedWidthInteger>(
        _ path: any KeyPath<Object, Property> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Number {
        // No order of the numbers overflows on the way.
        var total: Int128 = 0
        try forEachNumber(path, of: query) { value in
            if case .int(let int) = value { total += Int128(int) }
        }
        guard let sum = Number(exactly: total) else {
            let reason = "the sum is beyond the range of \(Number.self)"
            throw StoreError.unusableField(Field(named: path)?.description ?? "", reason: reason)
        }
        return sum
    }

    /// The sum of a property that is a `Double` or a `Float` over the objects that a query finds; 0 for none.
    public borrowing func sum<Object, Number: BinaryFloatingPoint & Codable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>
    ) throws -> Number {
        var total: Number = 0
        try forEachNumber(path, of: query) { value in
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
        try forEachNumber(path, of: query) { value in
            guard let double = value.double else { return }
            total += double
            count += 1
        }
        return count == 0 ? nil : total / Double(count)
    }

    private borrowing func forEachNumber<Object, Number: Encodable & Sendable>(
        _ path: any KeyPath<Object, Number> & Sendable,
        of query: StoreQuery<Object>,
        _ body: (IndexedValue) throws -> Void
    ) throws {
        let field = Field(named: path)
        let checks = FieldChecks<Object>(path, named: field)
        try checks.check(query.collection, source.objects)
        guard let field else { return }
        try QueryRun(query, source.objects).forEachValue(of: field, body)
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
