#if PostgreSQL
package import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// Which line's rows: 63 bits of a hash of the replica's name.
///
/// Nothing has to be asked for it. Where two names have one number, the second line is not made.
package struct LineNumber: Hashable, Sendable {
    package let rawValue: Int64

    /// How many bytes the key of an object and the name of its collection have at most: an index has no room
    /// for more.
    package static let keySizeMax = 2_000

    package init(_ name: ReplicaName) {
        let digest = ContentDigest(of: [Array(name.text.utf8)], purpose: "godwit line number 1")
        let number = digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        rawValue = Int64(number & UInt64(Int64.max))
    }

    init(rawValue: Int64) { self.rawValue = rawValue }

    package var parameter: PostgreSQLParameter { .integer(rawValue) }
}

// MARK: - Parameters

extension Key {
    var bytes: [UInt8] { Array(text.utf8) }
}

extension [ObjectKey] {
    /// Two arguments: the collections, and the keys.
    var parameters: [PostgreSQLParameter] {
        [.byteStrings(map(\.collection.bytes)), .byteStrings(map(\.key.bytes))]
    }
}

extension ObjectKey {
    /// Two arguments: the collection, and the key.
    var parameters: [PostgreSQLParameter] { [.bytes(collection.bytes), .bytes(key.bytes)] }
}

extension ClientID {
    var parameter: PostgreSQLParameter { .bytes(identifier.bytes) }
}

// MARK: - Cells

extension PostgreSQLRows {
    func key(_ row: Int, _ column: Int) -> Key { Key(text(row, column)) }

    func objectKey(_ row: Int, _ column: Int = 0) -> ObjectKey {
        ObjectKey(collection: key(row, column), key: key(row, column + 1))
    }

    func stateID(_ row: Int, _ column: Int) throws -> StateID {
        guard let id = StateID(bytes: bytes(row, column)) else {
            throw ReplicationError.damagedHistory(reason: "an id is damaged")
        }
        return id
    }

    /// A state from its serial and its id.
    func state(_ row: Int, _ column: Int) throws -> LineState {
        LineState(serial: try integer(row, column), id: try stateID(row, column + 1))
    }

    func setHash(_ row: Int, _ column: Int) throws -> SetHash {
        guard let hash = SetHash(bytes: bytes(row, column)) else {
            throw ReplicationError.damagedHistory(reason: "a sum is damaged")
        }
        return hash
    }

    /// A change, or nil where the column is NULL.
    func delta(_ row: Int, _ column: Int) throws -> ObjectDelta? {
        try optionalBytes(row, column).map { try ObjectDelta(storedBytes: $0) }
    }

    /// An object from its version and its value.
    func object(_ row: Int, _ column: Int) throws -> VersionedValue {
        let version = try integer(row, column)
        do throws(TreeError) {
            let value = try Value(canonicalBytes: bytes(row, column + 1), budget: .unlimited)
            return VersionedValue(value, version: Int(version))
        } catch {
            throw ReplicationError.damagedHistory(reason: "an object is damaged: \(error)")
        }
    }

    /// What a client gave back, from the third and the fourth column; nil where it had none.
    func givenObject(_ row: Int) throws -> VersionedValue? {
        isNull(row, 3) ? nil : try object(row, 2)
    }

    func clientID(_ row: Int, _ column: Int) throws -> ClientID {
        guard let identifier = Identifier(bytes: bytes(row, column)) else {
            throw ReplicationError.damagedHistory(reason: "a client's id is damaged")
        }
        return ClientID(identifier)
    }
}
#endif
