internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of a line's clients.
enum LinePeerTable {
    static func peer(
        _ client: ClientID,
        of line: LineNumber,
        in database: Database
    ) throws -> LinePeer? {
        let statement = try PreparedStatement(
            """
            SELECT nonce, acked, sent, sentMax, sequence, name, rejections
            FROM godwit_line_peer WHERE line = ? AND client = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(client.identifier.bytes, at: 2)
        guard try statement.step() else { return nil }
        var peer = LinePeer(
            nonce: statement.integer(0),
            acked: statement.integer(1),
            sent: statement.integer(2),
            sentMax: try [Epoch: Int64](storedBytes: Array(statement.blob(3)))
        )
        guard !statement.isNull(5) else { return peer }
        peer.outcome = BatchOutcome(
            sequence: statement.integer(4),
            name: BatchName(UInt32(truncatingIfNeeded: statement.integer(5))),
            result: statement.isNull(6)
                ? .accepted : .rejected(try [Rejection](storedBytes: Array(statement.blob(6))))
        )
        return peer
    }

    /// The clients of a line, with their rows, in the order of their ids.
    static func all(
        of line: LineNumber,
        in database: Database
    ) throws -> [(client: ClientID, peer: LinePeer)] {
        let statement = try PreparedStatement(
            "SELECT client FROM godwit_line_peer WHERE line = ? ORDER BY client",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        var clients: [ClientID] = []
        while try statement.step() {
            clients.append(try statement.clientID(0))
        }
        return try clients.compactMap { client in
            try peer(client, of: line, in: database).map { (client, $0) }
        }
    }

    static func set(
        _ peer: LinePeer,
        _ client: ClientID,
        seen now: Int64,
        of line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_line_peer
                (line, client, nonce, acked, sent, sentMax, sequence, name, rejections, seen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (line, client) DO UPDATE
            SET nonce = excluded.nonce, acked = excluded.acked, sent = excluded.sent,
                sentMax = excluded.sentMax, sequence = excluded.sequence, name = excluded.name,
                rejections = excluded.rejections, seen = excluded.seen
            """,
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(client.identifier.bytes, at: 2)
        try statement.bind(peer.nonce, at: 3)
        try statement.bind(peer.acked, at: 4)
        try statement.bind(peer.sent, at: 5)
        try statement.bind(peer.sentMax.storedBytes, at: 6)
        try statement.bind(peer.sequence, at: 7)
        if let outcome = peer.outcome {
            try statement.bind(Int64(outcome.name.number), at: 8)
        } else {
            try statement.bind(nil as [UInt8]?, at: 8)
        }
        try statement.bind(peer.outcome?.rejections?.storedBytes, at: 9)
        try statement.bind(now, at: 10)
        try statement.execute()
    }

    /// The clients of a line, in the order of their ids.
    static func clients(
        of line: LineNumber,
        at now: Int64,
        in database: Database
    ) throws -> [ReplicaClient] {
        let statement = try PreparedStatement(
            """
            SELECT client, acked, sent, seen FROM godwit_line_peer WHERE line = ? ORDER BY client
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        var clients: [ReplicaClient] = []
        while try statement.step() {
            clients.append(
                ReplicaClient(
                    id: try statement.clientID(0),
                    acked: statement.integer(1),
                    sent: statement.integer(2),
                    silence: .milliseconds(max(now - statement.integer(3), 0))
                )
            )
        }
        return clients
    }

    /// Drops a client's refs.
    static func forget(
        _ client: ClientID,
        of line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "UPDATE godwit_line_peer SET acked = 0, sent = 0 WHERE line = ? AND client = ?",
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(client.identifier.bytes, at: 2)
        try statement.execute()
    }
}

// MARK: - Cells

extension PreparedStatement {
    /// - Throws: ``ReplicationError/damagedHistory(reason:)``.
    func clientID(_ column: Int32) throws -> ClientID {
        guard let identifier = Identifier(bytes: Array(blob(column))) else {
            throw ReplicationError.damagedHistory(reason: "a client's id is damaged")
        }
        return ClientID(identifier)
    }
}

extension BatchOutcome {
    /// The objects that were refused; nil for an accepted batch.
    package var rejections: [Rejection]? {
        if case .rejected(let rejections) = result { rejections } else { nil }
    }
}

extension [Epoch: Int64] {
    package var storedBytes: [UInt8] {
        sorted { $0.value < $1.value }.flatMap { epoch, serial in
            [epoch.stored, serial].flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
        }
    }

    package init(storedBytes bytes: [UInt8]) throws(ReplicationError) {
        guard bytes.count % 16 == 0 else { throw .damagedHistory(reason: "a serial is damaged") }
        self = [:]
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let words = bytes[start..<start + 16].withUnsafeBytes { bytes in
                [0, 8].map { bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self) }
            }
            self[Epoch(stored: Int64(littleEndian: words[0]))] = Int64(littleEndian: words[1])
        }
    }
}

extension [Rejection] {
    package var storedBytes: [UInt8] {
        let rows = map { rejection -> Value in
            let (key, reason) = (rejection.key, Key(rejection.reason.rawValue))
            return [.string(key.collection), .string(key.key), .string(reason)]
        }
        return Value.list(Value.List(rows)).canonicalBytes
    }

    package init(storedBytes bytes: [UInt8]) throws(ReplicationError) {
        guard let rows = try? Value(canonicalBytes: bytes, budget: .unlimited).list else {
            throw .damagedHistory(reason: "an outcome is damaged")
        }
        self = try rows.map { row throws(ReplicationError) in
            guard let fields = row.list, fields.count == 3,
                case .string(let collection) = fields[0], case .string(let key) = fields[1],
                let reason = fields[2].text.flatMap(Rejection.Reason.init)
            else { throw .damagedHistory(reason: "an outcome is damaged") }
            return Rejection(key: ObjectKey(collection: collection, key: key), reason: reason)
        }
    }
}
