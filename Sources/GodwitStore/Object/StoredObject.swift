internal import GodwitTree
internal import Synchronization

/// An object as its row holds it, and what was decoded from it.
///
/// Shared between the cache, transactions and views: nothing in it changes but the memo, which
/// only saves work.
final class StoredObject: Sendable {
    /// The canonical bytes of the value.
    let bytes: [UInt8]
    /// The canonical bytes of the metadata, or nil when there is none.
    let metadata: [UInt8]?
    /// The version of the app's type that wrote the value.
    let version: Int
    /// The commit that wrote the row.
    let commit: CommitNumber
    /// What the row is checked against when it is read.
    let seal: Seal

    private struct Memo {
        var value: Value?
        var decoded: Decoded?
    }

    /// The object as the app's type of some version.
    private struct Decoded {
        let object: any Sendable
        let version: Int

        func object<Object>(_ type: Object.Type, version: Int) -> Object? {
            // Not a cast alone, which would take an object of a subclass, and items for optional ones.
            guard version == self.version, Swift.type(of: object) == type else { return nil }
            return object as? Object
        }
    }

    private let memo: Mutex<Memo>

    /// An object as it is to be stored.
    init(
        at key: ObjectKey,
        bytes: [UInt8],
        metadata: [UInt8]?,
        version: Int,
        commit: CommitNumber,
        value: Value? = nil
    ) {
        self.bytes = bytes
        self.metadata = metadata
        self.version = version
        self.commit = commit
        let numbers = (version: Int64(version), commit: commit.rawValue)
        seal = Seal(key, value: bytes, metadata: metadata, numbers: numbers)
        memo = Mutex(Memo(value: value))
    }

    /// An object as it was stored.
    ///
    /// - Throws: ``StoreError/damagedObject(_:)`` when the row has another seal.
    init(
        at key: ObjectKey,
        value: UnsafeRawBufferPointer,
        metadata: UnsafeRawBufferPointer?,
        numbers: (version: Int64, commit: Int64),
        seal: UnsafeRawBufferPointer
    ) throws(StoreError) {
        let computed = Seal(key, value: value, metadata: metadata, numbers: numbers)
        guard computed.matches(seal) else { throw .damagedObject(key) }
        bytes = Array(value)
        self.metadata = metadata.map { Array($0) }
        version = Int(numbers.version)
        commit = CommitNumber(rawValue: numbers.commit)
        self.seal = computed
        memo = Mutex(Memo())
    }

    /// About how much memory this takes: the bytes, the value and the object made from them.
    var cost: Int { 256 + 3 * (bytes.count + (metadata?.count ?? 0)) }

    /// Whether a reader of both would see no difference.
    func isSame(as other: StoredObject) -> Bool {
        version == other.version && bytes == other.bytes && metadata == other.metadata
    }
}

extension StoredObject {
    func value(at key: ObjectKey) throws(StoreError) -> Value {
        if let value = memo.withLock({ $0.value }) { return value }
        guard let value = try? Value(canonicalBytes: bytes, budget: .unlimited) else {
            throw .damagedObject(key)
        }
        memo.withLock { $0.value = value }
        return value
    }

    /// Lets go of the value when its transaction has ended: the bytes say the same in a third of
    /// the memory.
    func forgetValue() { memo.withLock { $0.value = nil } }

    func metadataValue(at key: ObjectKey) throws(StoreError) -> Value? {
        guard let metadata else { return nil }
        guard let value = try? Value(canonicalBytes: metadata) else { throw .damagedObject(key) }
        return value
    }

    /// The object as the app's type, decoded at most once while this lives.
    ///
    /// - Throws: ``StoreError/unreadableObject(_:reason:)``, also for what an upgrade throws, or
    ///   ``StoreError/newerObject(_:found:known:)``.
    func object<Object>(
        at key: ObjectKey,
        in collection: StoreCollection<Object>
    ) throws(StoreError) -> Object {
        let known = memo.withLock { $0.decoded?.object(Object.self, version: collection.version) }
        if let known { return known }
        let value =
            memo.withLock { $0.value } ?? (try? Value(canonicalBytes: bytes, budget: .unlimited))
        guard let value else { throw StoreError.damagedObject(key) }
        let object = try decode(value, at: key, in: collection)
        memo.withLock { $0.decoded = Decoded(object: object, version: collection.version) }
        return object
    }

    private func decode<Object>(
        _ value: Value,
        at key: ObjectKey,
        in collection: StoreCollection<Object>
    ) throws(StoreError) -> Object {
        do {
            return try collection.decode(value, at: key, version: version)
        } catch {
            throw StoreError(unreadable: key, because: error)
        }
    }
}
