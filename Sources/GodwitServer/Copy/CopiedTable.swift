#if Server && PostgreSQL
/// A table of a server that a store and a PostgreSQL database have alike.
struct CopiedTable: Sendable {
    /// What a column holds, and how each side writes that.
    enum Kind: Sendable {
        case integer
        /// A number that a database has to have: 0 for none.
        case integerOrZero
        case bytes
        case text
        /// A text in a store, its bytes in a database, which may have a zero in them.
        case name
    }

    struct Column: Sendable {
        let name: String
        /// Its name in a database.
        let databaseName: String
        let kind: Kind

        init(_ name: String, _ kind: Kind, in databaseName: String? = nil) {
            (self.name, self.kind) = (name, kind)
            self.databaseName = databaseName ?? name
        }
    }

    /// Which rows of a table are copied at once.
    enum Scope: Sendable {
        /// Those of one replica, by its number.
        case line
        /// Those of one replica; a store has its name there.
        case replica
        case all
    }

    let name: String
    var scope = Scope.line
    /// The columns but the one of the replica; the first ones are the primary key.
    let columns: [Column]
    let keyCount: Int
    /// A column that only a database has, and what it holds at first.
    var databaseOnly: String?

    var keys: ArraySlice<Column> { columns.prefix(keyCount) }
}

/// What a row has in a column.
enum CopiedCell: Hashable, Sendable {
    case null
    case integer(Int64)
    case bytes([UInt8])

    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
}

extension CopiedTable {
    /// The row of a replica itself: as long as it is not there, nothing of the replica is.
    ///
    /// Its last column is the last start of a server.
    static let line = CopiedTable(
        name: "godwit_line",
        columns: [
            Column("name", .text), Column("epoch", .integer), Column("serial", .integer),
            Column("id", .bytes), Column("sum", .bytes), Column("size", .integer),
            Column("start", .integer),
        ],
        keyCount: 1
    )

    /// The rows of a replica, which are copied before its own; what clients have sent in part is not.
    static let parts: [CopiedTable] = [
        CopiedTable(
            name: "godwit_line_opening",
            columns: [
                Column("serial", .integer), Column("id", .bytes), Column("start", .integer),
            ],
            keyCount: 1
        ),
        CopiedTable(
            name: "godwit_line_collection",
            columns: [
                Column("collection", .name), Column("count", .integer), Column("sum", .bytes),
            ],
            keyCount: 1
        ),
        CopiedTable(
            name: "godwit_line_object",
            columns: [
                Column("collection", .name), Column("key", .name), Column("version", .integer),
                Column("value", .bytes), Column("hash", .bytes), Column("client", .bytes),
                Column("serial", .integer), Column("changed", .integer),
            ],
            keyCount: 2
        ),
        CopiedTable(
            name: "godwit_line_entry",
            columns: [
                Column("collection", .name), Column("key", .name), Column("serial", .integer),
                Column("forward", .bytes), Column("backward", .bytes),
            ],
            keyCount: 3
        ),
        CopiedTable(
            name: "godwit_line_state",
            columns: [Column("serial", .integer), Column("id", .bytes)],
            keyCount: 1
        ),
        CopiedTable(
            name: "godwit_line_peer",
            columns: [
                Column("client", .bytes), Column("nonce", .integer), Column("acked", .integer),
                Column("sent", .integer), Column("sentMax", .bytes, in: "sent_max"),
                Column("sequence", .integer), Column("name", .integer),
                Column("rejections", .bytes), Column("seen", .integer),
            ],
            keyCount: 1,
            databaseOnly: "decision"
        ),
        CopiedTable(
            name: "godwit_line_restoration",
            columns: [
                Column("epoch", .integer), Column("reference", .integer),
                Column("referenceID", .bytes, in: "reference_id"), Column("lost", .integer),
                Column("lostID", .bytes, in: "lost_id"), Column("passed", .bytes),
            ],
            keyCount: 1
        ),
        CopiedTable(
            name: "godwit_line_lost",
            columns: [
                Column("epoch", .integer), Column("collection", .name), Column("key", .name),
                Column("version", .integerOrZero), Column("value", .bytes),
            ],
            keyCount: 3
        ),
        CopiedTable(
            name: "godwit_access_client",
            scope: .replica,
            columns: [Column("client", .bytes), Column("principal", .name)],
            keyCount: 1
        ),
    ]

    static let keys = CopiedTable(
        name: "godwit_access_key",
        scope: .all,
        columns: [
            Column("id", .text), Column("name", .text), Column("hash", .bytes),
            Column("rights", .text), Column("created", .integer), Column("used", .integer),
            Column("expires", .integer),
        ],
        keyCount: 1
    )
}
#endif
