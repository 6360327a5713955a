package import GRDB

extension Row {
    /// The value of a column; GRDB's subscript would stop the program when the column holds
    /// another type, as it may in a damaged file.
    ///
    /// - Throws: `DatabaseError` with `SQLITE_CORRUPT`.
    package func cell<Cell: DatabaseValueConvertible & StatementColumnConvertible>(
        _ index: Int
    ) throws -> Cell {
        do {
            return try decode(Cell.self, atIndex: index)
        } catch let error as RowDecodingError {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "\(error)")
        }
    }
}
