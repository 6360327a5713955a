internal import Crypto
internal import GodwitTree

/// 16 bytes that belong to one row and its content: the first half of a SHA-256.
///
/// SQLite cannot see damage inside a payload. The seal covers the key too, so that a row that
/// was damaged into another object's row is not read as that object.
package struct Seal: Hashable, Sendable {
    static let sizeInBytes = 16

    let high: UInt64
    let low: UInt64

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.sizeInBytes)
        bytes.append(high)
        bytes.append(low)
        return bytes
    }

    package func matches(_ stored: UnsafeRawBufferPointer) -> Bool {
        guard stored.count == Self.sizeInBytes else { return false }
        return stored.loadUnaligned(as: UInt64.self).bigEndian == high
            && stored.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian == low
    }

    private init(_ digest: SHA256.Digest) {
        (high, low) = digest.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(as: UInt64.self).bigEndian,
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
            )
        }
    }
}

extension Seal {
    private static let objectPurpose = Array("godwit object 1\0".utf8)
    private static let ledgerPurpose = Array("godwit ledger 1\0".utf8)

    /// The seal of an object's row.
    init(
        _ key: ObjectKey,
        value: UnsafeRawBufferPointer,
        metadata: UnsafeRawBufferPointer?,
        numbers: (version: Int64, commit: Int64)
    ) {
        var hash = SHA256()
        var head = Self.objectPurpose
        head.reserveCapacity(128)
        head.append(UInt64(bitPattern: numbers.version))
        head.append(UInt64(bitPattern: numbers.commit))
        for name in [key.collection.text, key.key.text] {
            head.append(UInt64(name.utf8.count))
            head.append(contentsOf: name.utf8)
        }
        head.append(metadata.map { UInt64($0.count) } ?? .max)
        head.withUnsafeBytes { hash.update(bufferPointer: $0) }
        if let metadata { hash.update(bufferPointer: metadata) }
        hash.update(bufferPointer: value)
        self.init(hash.finalize())
    }

    init(
        _ key: ObjectKey,
        value: [UInt8],
        metadata: [UInt8]?,
        numbers: (version: Int64, commit: Int64)
    ) {
        self = value.withUnsafeBytes { value in
            guard let metadata else {
                return Seal(key, value: value, metadata: nil, numbers: numbers)
            }
            return metadata.withUnsafeBytes {
                Seal(key, value: value, metadata: $0, numbers: numbers)
            }
        }
    }

    /// The seal of another layer's row.
    ///
    /// - Parameter purpose: Which rows, and which format; unlike any other's.
    package init(of parts: [[UInt8]], purpose: String) {
        var hash = SHA256()
        var head: [UInt8] = []
        head.reserveCapacity(128)
        head.append(contentsOf: "\(purpose)\0".utf8)
        for part in parts { head.append(UInt64(part.count)) }
        head.withUnsafeBytes { hash.update(bufferPointer: $0) }
        for part in parts { part.withUnsafeBytes { hash.update(bufferPointer: $0) } }
        self.init(hash.finalize())
    }

    /// The seal of a row of the ledger.
    init(collection: Key?, _ numbers: [Int64]) {
        var bytes = Self.ledgerPurpose
        for number in numbers { bytes.append(UInt64(bitPattern: number)) }
        if let collection { bytes.append(contentsOf: collection.text.utf8) }
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        self.init(hash.finalize())
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ word: UInt64) {
        Swift.withUnsafeBytes(of: word.bigEndian) { append(contentsOf: $0) }
    }
}
