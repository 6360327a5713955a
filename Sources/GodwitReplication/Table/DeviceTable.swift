internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// Which replica's rows on a device.
struct DeviceNumber: Hashable, Sendable {
    let rawValue: Int64
}

/// Which server's row on a device.
struct ServerNumber: Hashable, Sendable {
    let rawValue: Int64
}

/// The rows of servers, replicas, collections, and of the states that were adopted.
enum DeviceTable {
    // MARK: Servers

    /// The row of a server, which is made where there is none.
    static func server(
        named name: String,
        fresh: ClientID,
        in database: Database
    ) throws -> ServerNumber {
        let insert = try PreparedStatement(
            """
            INSERT INTO godwit_device_server (name, client, nonce) VALUES (?, ?, 0)
            ON CONFLICT (name) DO NOTHING
            """,
            in: database
        )
        try insert.bind(name, at: 1)
        try insert.bind(fresh.identifier.bytes, at: 2)
        try insert.execute()
        let statement = try PreparedStatement(
            "SELECT number FROM godwit_device_server WHERE name = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(name, at: 1)
        guard try statement.step() else { throw damage("the row of a server is missing") }
        return ServerNumber(rawValue: statement.integer(0))
    }

    /// Who the device is for a server; no request has had a higher nonce.
    static func identity(
        for server: ServerNumber,
        in database: Database
    ) throws -> DeviceIdentity {
        let statement = try PreparedStatement(
            "SELECT client, nonce FROM godwit_device_server WHERE number = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(server.rawValue, at: 1)
        guard try statement.step(), let client = try statement.clientID(0) else {
            throw damage("the row of a server is missing")
        }
        return DeviceIdentity(client: client, nonce: statement.integer(1))
    }

    static func set(
        _ identity: DeviceIdentity,
        for server: ServerNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "UPDATE godwit_device_server SET client = ?, nonce = ? WHERE number = ?",
            in: database
        )
        try statement.bind(identity.client.identifier.bytes, at: 1)
        try statement.bind(identity.nonce, at: 2)
        try statement.bind(server.rawValue, at: 3)
        try statement.execute()
    }

    static func replicas(of server: ServerNumber, in database: Database) throws -> [DeviceNumber] {
        let statement = try PreparedStatement(
            "SELECT number FROM godwit_device_replica WHERE server = ? ORDER BY number",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(server.rawValue, at: 1)
        var numbers: [DeviceNumber] = []
        while try statement.step() { numbers.append(DeviceNumber(rawValue: statement.integer(0))) }
        return numbers
    }

    static func damage(_ reason: String) -> ReplicationError {
        .damagedHistory(reason: reason)
    }
}

// MARK: - Replicas

extension DeviceTable {
    /// The row of a replica, which is made where there is none.
    ///
    /// Where a salvage has lost the row of a replica, and has kept others of it, any new replica may be
    /// the lost one.
    static func replica(
        _ name: ReplicaName,
        of server: ServerNumber,
        in database: Database
    ) throws -> DeviceNumber {
        var replica = DeviceReplica()
        replica.isSalvaged = try removeOrphans(in: database)
        // The server counts the batches of a client on, also of one that has left and comes back.
        let insert = try PreparedStatement(
            """
            INSERT INTO godwit_device_replica
                (server, name, serial, id, sum, sequence, batch, is_frozen, is_salvaged)
            SELECT ?1, ?2, ?3, ?4, ?5, coalesce(left.sequence, ?6), left.batch, FALSE, ?7
            FROM (SELECT 1) LEFT JOIN godwit_device_left AS left
            ON left.server = ?1 AND left.name = ?2
            WHERE TRUE ON CONFLICT (server, name) DO NOTHING
            """,
            in: database
        )
        try insert.bind(server.rawValue, at: 1)
        try insert.bind(name.text, at: 2)
        try insert.bind(replica.base.serial, at: 3)
        try insert.bind(replica.base.id.bytes, at: 4)
        try insert.bind(replica.sum.all.bytes, at: 5)
        try insert.bind(replica.sequence, at: 6)
        try insert.bind(replica.isSalvaged, at: 7)
        try insert.execute()
        let statement = try PreparedStatement(
            "SELECT number FROM godwit_device_replica WHERE server = ? AND name = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(server.rawValue, at: 1)
        try statement.bind(name.text, at: 2)
        guard try statement.step() else { throw damage("the row of a replica is missing") }
        return DeviceNumber(rawValue: statement.integer(0))
    }

    /// The numbers and names of all replicas, in the order of the names.
    static func names(in database: Database) throws -> [(DeviceNumber, String)] {
        let statement = try PreparedStatement(
            "SELECT number, name FROM godwit_device_replica ORDER BY name, number",
            in: database
        )
        defer { statement.reset() }
        var names: [(DeviceNumber, String)] = []
        while try statement.step() {
            names.append((DeviceNumber(rawValue: statement.integer(0)), statement.text(1)))
        }
        return names
    }

    static func server(of replica: DeviceNumber, in database: Database) throws -> ServerNumber {
        let statement = try PreparedStatement(
            "SELECT server FROM godwit_device_replica WHERE number = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.rawValue, at: 1)
        guard try statement.step() else { throw damage("a replica is missing") }
        return ServerNumber(rawValue: statement.integer(0))
    }

    static func exists(
        _ name: ReplicaName,
        server: String,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            SELECT EXISTS (
                SELECT 1 FROM godwit_device_replica AS replica
                JOIN godwit_device_server AS server ON server.number = replica.server
                WHERE replica.name = ? AND server.name = ?)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(name.text, at: 1)
        try statement.bind(server, at: 2)
        return try statement.step() && statement.integer(0) != 0
    }

    static func hasReplica(_ number: DeviceNumber, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT EXISTS (SELECT 1 FROM godwit_device_replica WHERE number = ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(number.rawValue, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// Removes all rows of a replica, and its server's if that has no other replica.
    ///
    /// So an app that signs in anew is another client.
    static func remove(
        _ number: DeviceNumber,
        of server: ServerNumber,
        in database: Database
    ) throws {
        let note = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_device_left (server, name, sequence, batch)
            SELECT server, name, sequence, batch FROM godwit_device_replica
            WHERE number = ? AND frozen_as IS NULL
            """,
            in: database
        )
        try note.bind(number.rawValue, at: 1)
        try note.execute()
        let statement = try PreparedStatement(
            "DELETE FROM godwit_device_replica WHERE number = ?",
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.execute()
        _ = try removeOrphans(in: database)
        // With the last replica goes the id.
        for (table, column) in [("server", "number"), ("left", "server")] {
            let rest = try PreparedStatement(
                """
                DELETE FROM godwit_device_\(table) WHERE \(column) = ?1 AND NOT EXISTS (
                    SELECT 1 FROM godwit_device_replica WHERE server = ?1)
                """,
                in: database
            )
            try rest.bind(server.rawValue, at: 1)
            try rest.execute()
        }
    }

    /// Forgets what was sent to replicas that were left: the device has taken another id.
    static func forgetLeft(_ server: ServerNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_device_left WHERE server = ?",
            in: database
        )
        try statement.bind(server.rawValue, at: 1)
        try statement.execute()
    }

    /// Removes rows of replicas that are gone, and says whether there were any.
    private static func removeOrphans(in database: Database) throws -> Bool {
        var count = 0
        for table in ["collection", "pending", "adopted", "fetched", "undo"] {
            let statement = try PreparedStatement(
                """
                DELETE FROM godwit_device_\(table)
                WHERE replica NOT IN (SELECT number FROM godwit_device_replica)
                """,
                in: database
            )
            try statement.execute()
            count += statement.changedRowCount
        }
        return count > 0
    }

    /// The last state that a replica has adopted.
    static func base(of number: DeviceNumber, in database: Database) throws -> LineState {
        let statement = try PreparedStatement(
            "SELECT serial, id FROM godwit_device_replica WHERE number = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(number.rawValue, at: 1)
        guard try statement.step() else { throw damage("the row of a replica is missing") }
        return LineState(serial: statement.integer(0), id: try statement.stateID(1))
    }

    static func replica(_ number: DeviceNumber, in database: Database) throws -> DeviceReplica {
        let statement = try PreparedStatement(
            """
            SELECT epoch, serial, id, sum, sequence, batch, is_frozen, former, is_salvaged,
                frozen_as, starts
            FROM godwit_device_replica WHERE number = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(number.rawValue, at: 1)
        guard try statement.step() else { throw damage("the row of a replica is missing") }
        return DeviceReplica(
            epoch: statement.isNull(0) ? nil : Epoch(stored: statement.integer(0)),
            base: LineState(serial: statement.integer(1), id: try statement.stateID(2)),
            sum: ContentSum(
                total: try statement.setHash(3),
                collections: try sums(of: number, in: database)
            ),
            starts: statement.lineStarts(10),
            sequence: statement.integer(4),
            name: statement.isNull(5)
                ? nil : BatchName(UInt32(truncatingIfNeeded: statement.integer(5))),
            isFrozen: statement.integer(6) != 0,
            frozenAs: try statement.clientID(9),
            former: try statement.clientID(7),
            isSalvaged: statement.integer(8) != 0
        )
    }

    /// - Parameter old: The row as it is.
    static func set(
        _ replica: DeviceReplica,
        replacing old: DeviceReplica,
        _ number: DeviceNumber,
        in database: Database
    ) throws {
        guard replica != old else { return }
        let statement = try PreparedStatement(
            """
            UPDATE godwit_device_replica
            SET epoch = ?, serial = ?, id = ?, sum = ?, sequence = ?, batch = ?, is_frozen = ?,
                former = ?, is_salvaged = ?, frozen_as = ?, starts = ?
            WHERE number = ?
            """,
            in: database
        )
        try statement.bind(optional: replica.epoch?.stored, at: 1)
        try statement.bind(replica.base.serial, at: 2)
        try statement.bind(replica.base.id.bytes, at: 3)
        try statement.bind(replica.sum.all.bytes, at: 4)
        try statement.bind(replica.sequence, at: 5)
        try statement.bind(optional: replica.name.map { Int64($0.number) }, at: 6)
        try statement.bind(replica.isFrozen, at: 7)
        try statement.bind(replica.former?.identifier.bytes, at: 8)
        try statement.bind(replica.isSalvaged, at: 9)
        try statement.bind(replica.frozenAs?.identifier.bytes, at: 10)
        try statement.bind(replica.starts.flatMap(\.bytes), at: 11)
        try statement.bind(number.rawValue, at: 12)
        try statement.execute()
        for (collection, sum) in old.sum.changes(to: replica.sum) {
            try set(sum, of: collection, number, in: database)
        }
        if let epoch = replica.epoch, replica.base != old.base || epoch != old.epoch {
            try insert(replica.base, epoch, of: number, in: database)
        }
    }
}

// MARK: - Cells

extension LineStart {
    fileprivate static let sizeInBytes = 12

    fileprivate var bytes: [UInt8] {
        withUnsafeBytes(of: start.number.bigEndian) { Array($0) }
            + withUnsafeBytes(of: serial.bigEndian) { Array($0) }
    }

    fileprivate init(bytes: ArraySlice<UInt8>) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
            bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(
            start: ServerStart(UInt32(truncatingIfNeeded: number(bytes.prefix(4)))),
            serial: Int64(bitPattern: number(bytes.dropFirst(4)))
        )
    }
}

extension PreparedStatement {
    /// Without those that are damaged: they only help to find where a line was cut off.
    fileprivate func lineStarts(_ column: Int32) -> [LineStart] {
        let (bytes, size) = (Array(blob(column)), LineStart.sizeInBytes)
        return stride(from: 0, through: bytes.count - size, by: size)
            .map { LineStart(bytes: bytes[$0..<($0 + size)]) }
            .filter { 0..<(1 << 56) ~= $0.serial }
    }

    /// - Throws: ``ReplicationError/damagedHistory(reason:)``.
    fileprivate func clientID(_ column: Int32) throws -> ClientID? {
        guard !isNull(column) else { return nil }
        guard let identifier = Identifier(bytes: Array(blob(column))) else {
            throw ReplicationError.damagedHistory(reason: "a client's id is damaged")
        }
        return ClientID(identifier)
    }

    func bind(optional integer: Int64?, at index: Int32) throws {
        if let integer {
            try bind(integer, at: index)
        } else {
            try bind(nil as [UInt8]?, at: index)
        }
    }
}
