#if Server
internal import GRDB
internal import GodwitReplication
internal import GodwitStore

/// The rows of which principal a replica's client belongs to: the one that has used its id first.
enum AccessClientTable {
    static func principal(
        of client: ClientID,
        in replica: ReplicaName,
        _ database: Database
    ) throws -> String? {
        let statement = try PreparedStatement(
            "SELECT principal FROM godwit_access_client WHERE replica = ? AND client = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.text, at: 1)
        try statement.bind(client.identifier.bytes, at: 2)
        return try statement.step() ? statement.text(0) : nil
    }

    /// The principals to whom the ids of a replica belong.
    static func principals(
        in replica: ReplicaName,
        _ database: Database
    ) throws -> [ClientID: String] {
        // A server without access control has made no table.
        guard try database.tableExists("godwit_access_client") else { return [:] }
        let statement = try PreparedStatement(
            "SELECT client, principal FROM godwit_access_client WHERE replica = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.text, at: 1)
        var principals: [ClientID: String] = [:]
        while try statement.step() {
            guard let identifier = Identifier(bytes: Array(statement.blob(0))) else { continue }
            principals[ClientID(identifier)] = statement.text(1)
        }
        return principals
    }

    /// How many ids of a replica belong to one principal.
    static func count(
        of replica: ReplicaName,
        for principal: String,
        in database: Database
    ) throws -> Int {
        let statement = try PreparedStatement(
            "SELECT COUNT(*) FROM godwit_access_client WHERE replica = ? AND principal = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(replica.text, at: 1)
        try statement.bind(principal, at: 2)
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    static func bind(
        _ client: ClientID,
        in replica: ReplicaName,
        to principal: String,
        _ database: Database
    ) throws {
        let statement = try PreparedStatement(
            "INSERT INTO godwit_access_client (replica, client, principal) VALUES (?, ?, ?)",
            in: database
        )
        try statement.bind(replica.text, at: 1)
        try statement.bind(client.identifier.bytes, at: 2)
        try statement.bind(principal, at: 3)
        try statement.execute()
    }

    /// - Returns: Whether the id belonged to a principal.
    static func remove(
        _ client: ClientID,
        of replica: ReplicaName,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_access_client WHERE replica = ? AND client = ?",
            in: database
        )
        try statement.bind(replica.text, at: 1)
        try statement.bind(client.identifier.bytes, at: 2)
        try statement.execute()
        return statement.changedRowCount > 0
    }
}
#endif
