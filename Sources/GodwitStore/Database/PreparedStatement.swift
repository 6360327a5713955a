package import GRDB
package import GodwitTree

#if canImport(GRDBSQLite)
internal import GRDBSQLite
#elseif canImport(SQLCipher)
internal import SQLCipher
#else
internal import SQLite3
#endif

/// A statement of GRDB's cache, bound and stepped without GRDB's rows.
///
/// An object is read in one step of one statement; `Row` and `StatementArguments` would cost
/// more than the B-tree does. GRDB owns the cached statement and finalizes it. While a walk is in
/// the middle of the cached one, another walk over the same SQL gets a statement of its own.
package struct PreparedStatement {
    private let statement: OpaquePointer
    private let connection: OpaquePointer?
    /// Keeps a statement that is not in the cache; nil for one that is.
    private let own: Statement?

    package init(_ sql: String, in database: Database) throws {
        connection = database.sqliteConnection
        let cached = try database.cachedStatement(sql: sql).sqliteStatement
        if sqlite3_stmt_busy(cached) == 0 {
            (statement, own) = (cached, nil)
        } else {
            let own = try database.makeStatement(sql: sql)
            (statement, self.own) = (own.sqliteStatement, own)
        }
    }

    /// Binds the arguments, runs the statement to its end, and expects no row.
    package func execute() throws {
        defer { reset() }
        while try step() {}
    }

    /// Whether there is a (next) row.
    package func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    private func error(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: String(cString: sqlite3_errmsg(connection))
        )
    }

    /// Gives up the rows that were not read: a statement that stays busy would keep its
    /// transaction open.
    package func reset() {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }

    /// How many rows the last statement of this connection has changed.
    package var changedRowCount: Int { Int(sqlite3_changes(connection)) }
}

extension PreparedStatement {
    /// Throws when a deferred foreign key is violated: at the commit that would fail all requests
    /// of the group, and not only the one that did it.
    static func refuseDeferredViolations(in database: Database) throws {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(
            database.sqliteConnection,
            SQLITE_DBSTATUS_DEFERRED_FKS,
            &current,
            &highest,
            0
        )
        guard current == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY,
                message: "FOREIGN KEY constraint failed"
            )
        }
    }
}

// MARK: - Arguments; they count from 1

// SQLite refuses an argument that is too large, or for which it has no memory: the parameter would
// be NULL.
extension PreparedStatement {
    package func bind(_ key: Key, at index: Int32) throws { try bind(key.text, at: index) }

    package func bind(_ text: String, at index: Int32) throws {
        var text = text
        try check(
            text.withUTF8 { bytes in
                // An empty buffer may have no address, and no address would be bound as NULL.
                let address = bytes.baseAddress ?? StaticString("").utf8Start
                let count = sqlite3_uint64(bytes.count)
                return address.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text64(statement, index, $0, count, transient, UInt8(SQLITE_UTF8))
                }
            }
        )
    }

    package func bind(_ integer: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(statement, index, integer))
    }

    package func bind(_ isTrue: Bool, at index: Int32) throws {
        try bind(isTrue ? 1 as Int64 : 0, at: index)
    }

    package func bind(_ double: Double, at index: Int32) throws {
        try check(sqlite3_bind_double(statement, index, double))
    }

    /// Binds bytes, or NULL.
    package func bind(_ bytes: [UInt8]?, at index: Int32) throws {
        guard let bytes else { return try check(sqlite3_bind_null(statement, index)) }
        try bytes.withUnsafeBytes { try bind($0, at: index) }
    }

    package func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) throws {
        guard let address = bytes.baseAddress, !bytes.isEmpty else {
            return try check(sqlite3_bind_zeroblob(statement, index, 0))
        }
        let count = sqlite3_uint64(bytes.count)
        try check(sqlite3_bind_blob64(statement, index, address, count, transient))
    }

    private func check(_ code: CInt) throws {
        guard code != SQLITE_OK else { return }
        defer { reset() }
        throw error(code)
    }
}

// MARK: - Columns; they count from 0, and what they lend lasts until the next step

extension PreparedStatement {
    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    package func text(_ column: Int32) -> String {
        String(decoding: textBytes(column), as: UTF8.self)
    }

    package func textBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let address = sqlite3_column_text(statement, column)
        return UnsafeRawBufferPointer(
            start: address,
            count: Int(sqlite3_column_bytes(statement, column))
        )
    }

    package func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let address = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(
            start: address,
            count: Int(sqlite3_column_bytes(statement, column))
        )
    }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    /// SQLite's own types.
    package enum Kind {
        case integer, double, text, blob, null
    }

    package func kind(_ column: Int32) -> Kind {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .double
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    package func isText(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_TEXT
    }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }
}

/// Makes SQLite copy what is bound: `SQLITE_TRANSIENT`, which is a cast that Swift cannot import.
private var transient: sqlite3_destructor_type {
    // Sound because SQLite compares this address and never calls it.
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
