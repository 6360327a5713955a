internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of what clients have given back, after a line had lost states.
enum LineRestorationTable {
    static func restoration(
        of epoch: Epoch,
        _ line: LineNumber,
        in database: Database
    ) throws -> LineRestoration? {
        let statement = try PreparedStatement(
            """
            SELECT reference, referenceID, lost, lostID, passed FROM godwit_line_restoration
            WHERE line = ? AND epoch = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(epoch.stored, at: 2)
        guard try statement.step() else { return nil }
        return LineRestoration(
            reference: LineState(serial: statement.integer(0), id: try statement.stateID(1)),
            lost: LineState(serial: statement.integer(2), id: try statement.stateID(3)),
            objects: try objects(of: epoch, line, in: database),
            passed: try [LineState](storedBytes: Array(statement.blob(4)))
        )
    }

    private static func objects(
        of epoch: Epoch,
        _ line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: VersionedValue?] {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, version, value FROM godwit_line_lost
            WHERE line = ? AND epoch = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(epoch.stored, at: 2)
        return try statement.givenObjects()
    }

    static func set(
        _ restoration: LineRestoration,
        _ epoch: Epoch,
        of line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_line_restoration
                (line, epoch, reference, referenceID, lost, lostID, passed)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (line, epoch) DO UPDATE
            SET reference = excluded.reference, referenceID = excluded.referenceID,
                lost = excluded.lost, lostID = excluded.lostID, passed = excluded.passed
            """,
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(epoch.stored, at: 2)
        try statement.bind(restoration.reference.serial, at: 3)
        try statement.bind(restoration.reference.id.bytes, at: 4)
        try statement.bind(restoration.lost.serial, at: 5)
        try statement.bind(restoration.lost.id.bytes, at: 6)
        try statement.bind(restoration.passed.storedBytes, at: 7)
        try statement.execute()
        try replaceObjects(restoration.objects, of: epoch, line, in: database)
    }

    private static func replaceObjects(
        _ objects: [ObjectKey: VersionedValue?],
        of epoch: Epoch,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let removal = try PreparedStatement(
            "DELETE FROM godwit_line_lost WHERE line = ? AND epoch = ?",
            in: database
        )
        try removal.bind(line.rawValue, at: 1)
        try removal.bind(epoch.stored, at: 2)
        try removal.execute()
        for (key, object) in objects {
            let statement = try PreparedStatement(
                """
                INSERT INTO godwit_line_lost (line, epoch, collection, key, version, value)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                in: database
            )
            try statement.bind(line.rawValue, at: 1)
            try statement.bind(epoch.stored, at: 2)
            try statement.bind(given: object, at: key)
            try statement.execute()
        }
    }
}

extension PreparedStatement {
    /// The objects that clients gave back, from rows of collection, key, version and value; nil where they
    /// had none.
    func givenObjects() throws -> [ObjectKey: VersionedValue?] {
        var objects: [ObjectKey: VersionedValue?] = [:]
        while try step() {
            objects[objectKey(0, 1)] = .some(isNull(3) ? nil : try object(version: 2, value: 3))
        }
        return objects
    }

    /// Binds such an object and its key to four arguments, from the third one on.
    func bind(given object: VersionedValue?, at key: ObjectKey) throws {
        try bind(key.collection, at: 3)
        try bind(key.key, at: 4)
        try bind(Int64(object?.version ?? 1), at: 5)
        try bind(object?.value.canonicalBytes, at: 6)
    }
}

extension LineState {
    fileprivate static let storedSizeInBytes = 8 + StateID.sizeInBytes

    /// The serial, little-endian, and the id.
    fileprivate var storedBytes: [UInt8] {
        withUnsafeBytes(of: serial.littleEndian, Array.init) + id.bytes
    }

    fileprivate init(storedBytes bytes: [UInt8]) throws(ReplicationError) {
        guard bytes.count == Self.storedSizeInBytes,
            let id = StateID(bytes: Array(bytes.dropFirst(8)))
        else { throw .damagedHistory(reason: "a state is damaged") }
        let serial = bytes.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) }
        self.init(serial: serial, id: id)
    }
}

extension [LineState] {
    package var storedBytes: [UInt8] { flatMap(\.storedBytes) }

    package init(storedBytes bytes: [UInt8]) throws(ReplicationError) {
        self = try stride(from: 0, to: bytes.count, by: LineState.storedSizeInBytes)
            .map { start throws(ReplicationError) in
                let rest = bytes[start...].prefix(LineState.storedSizeInBytes)
                return try LineState(storedBytes: [UInt8](rest))
            }
    }
}
