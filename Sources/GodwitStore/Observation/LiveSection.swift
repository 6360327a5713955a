/// Rows of a live query that follow each other and have one value in common.
public struct LiveSection<Object: Codable & Sendable, Value: Hashable & Sendable>: Identifiable {
    /// What the rows have in common.
    public let value: Value
    public internal(set) var rows: [LiveRow<Object>]

    public var id: Value { value }
}

extension LiveQuery {
    /// The rows in sections, as the first of a query's orders sorts them.
    ///
    /// ```swift
    /// let roster = LiveQuery(contacts.order(by: \.address.city).order(by: \.name), in: store)
    /// ForEach(roster.sections(by: \.address.city)) { section in
    ///     Section(section.value) { ForEach(section.rows) { Text($0.object.name) } }
    /// }
    /// ```
    ///
    /// A screen that reads them is drawn again when any of the objects changes. Takes time for each row; for
    /// tens of thousands, use a `LiveList`. If the query sorts otherwise, a value has its section where its
    /// first row is.
    public func sections<Value: Hashable & Sendable>(
        by value: (Object) -> Value
    ) -> [LiveSection<Object, Value>] {
        var sections: [LiveSection<Object, Value>] = []
        var places: [Value: Int] = [:]
        for row in rows {
            let value = value(row.object)
            if let place = places[value] {
                sections[place].rows.append(row)
            } else {
                places[value] = sections.count
                sections.append(LiveSection(value: value, rows: [row]))
            }
        }
        return sections
    }
}
