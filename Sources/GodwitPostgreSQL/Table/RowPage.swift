#if PostgreSQL
/// A query for the first rows of a source, as many as have room in a page: libpq keeps a whole result
/// in memory.
///
/// The sizes before each row are added up without reading the values. Keys are not added: a page of them
/// alone has 8 MiB at most.
package struct RowPage {
    /// About how many bytes of values or changes a page has, beside one large row.
    package static let sizeMax = 1 << 20
    /// How many rows a page has at most.
    package static let countMax = 4_096

    /// The columns, by the names that the source gives them.
    let columns: String
    /// How many bytes the large ones among them have.
    let size: String
    /// What stands behind FROM.
    let source: String
    /// The columns that put the rows in their order.
    let order: String

    package init(columns: String, size: String, source: String, order: String) {
        (self.columns, self.size, self.source, self.order) = (columns, size, source, order)
    }

    package var sql: String {
        """
        SELECT \(columns) FROM (
            SELECT \(columns), sum(size) OVER (ORDER BY \(order)) - size AS before
            FROM (
                SELECT \(columns), \(size) AS size FROM \(source)
                ORDER BY \(order) LIMIT \(Self.countMax)
            ) AS page
        ) AS sized WHERE before < \(Self.sizeMax) ORDER BY \(order)
        """
    }
}

extension PostgreSQLRows {
    /// Whether there may be more rows than these, which a page has had no room for.
    ///
    /// - Parameter columns: The large ones.
    func fillPage(_ columns: ClosedRange<Int>) -> Bool {
        count >= RowPage.countMax || sizeInBytes(columns) >= RowPage.sizeMax
    }

    /// How many bytes some columns of all rows have.
    private func sizeInBytes(_ columns: ClosedRange<Int>) -> Int {
        (0..<count).reduce(0) { size, row in
            columns.reduce(size) { $0 + sizeInBytes(row, $1) }
        }
    }
}
#endif
