#if PostgreSQL
internal import CLibpq

/// The rows of a result, in the binary form of their types.
package final class PostgreSQLRows {
    private let result: OpaquePointer
    package let count: Int

    /// Takes a result over, and frees it at its end.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// How many rows a command has inserted, changed or removed.
    package var changedCount: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// Which command it was, such as COMMIT.
    var command: String { String(cString: PQcmdStatus(result)) }

    package func isNull(_ row: Int, _ column: Int) -> Bool {
        PQgetisnull(result, Int32(row), Int32(column)) != 0
    }

    /// - Throws: ``PostgreSQLError/damagedRow(reason:)``.
    package func integer(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64 {
        let cell = bytes(row, column)
        guard cell.count == 8 else { throw .damagedRow(reason: "a number has 8 bytes") }
        return cell.reduce(0) { $0 << 8 | Int64($1) }
    }

    package func optionalInteger(_ row: Int, _ column: Int) throws(PostgreSQLError) -> Int64? {
        isNull(row, column) ? nil : try integer(row, column)
    }

    func isTrue(_ row: Int, _ column: Int) -> Bool { bytes(row, column) == [1] }

    /// The bytes of a cell; none for NULL.
    package func bytes(_ row: Int, _ column: Int) -> [UInt8] {
        let length = Int(PQgetlength(result, Int32(row), Int32(column)))
        guard length > 0, let start = PQgetvalue(result, Int32(row), Int32(column)) else {
            return []
        }
        return Array(UnsafeRawBufferPointer(start: start, count: length))
    }

    func optionalBytes(_ row: Int, _ column: Int) -> [UInt8]? {
        isNull(row, column) ? nil : bytes(row, column)
    }

    func sizeInBytes(_ row: Int, _ column: Int) -> Int {
        Int(PQgetlength(result, Int32(row), Int32(column)))
    }

    package func text(_ row: Int, _ column: Int) -> String {
        String(decoding: bytes(row, column), as: UTF8.self)
    }
}
#endif
