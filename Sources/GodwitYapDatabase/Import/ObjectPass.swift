internal import GRDB
internal import GodwitQueue
internal import GodwitStore
internal import GodwitTree

/// Decodes the objects of a file, batch by batch, and puts each batch into the store in one transaction.
struct ObjectPass {
    let source: YapDatabaseImport
    let file: YapDatabaseFile
    /// nil to decode and count only.
    let store: Store?
    var report = YapDatabaseImport.Report()

    private struct Decoded: Sendable {
        let collection: String
        let place: ObjectKey
        let value: Value
        let metadata: Value?
    }

    /// What became of a batch in the store.
    private struct Outcome: Sendable {
        var imported: [Int] = []
        var kept: [Int] = []
        var leftOut: [(index: Int, isMetadata: Bool, reason: String)] = []
    }

    mutating func run() async throws {
        var last: Int64?
        while case let rows = try batch(after: last), let end = rows.last {
            try Task.checkCancellation()
            let objects = rows.compactMap { decode($0) }
            try await put(objects)
            last = end.rowid
        }
    }

    private func batch(after rowid: Int64?) throws -> [YapObjectRow] {
        try file.read { try YapObjectRow.batch(after: rowid, in: source.collections, $0) }
    }
}

// MARK: - Decoding

extension ObjectPass {
    /// Returns nil for what is left out or declined; the report says so then.
    private mutating func decode(_ row: YapObjectRow) -> Decoded? {
        let name = row.collection.readableText
        do {
            guard let collection = row.collection.wholeText, let key = row.key.wholeText else {
                throw YapDatabaseError.unreadableData(reason: "its name is no text")
            }
            guard let bytes = row.data.bytes else {
                throw YapDatabaseError.unreadableData(reason: "the row has no data")
            }
            let there = ObjectKey(collection: Key(collection), key: Key(key))
            let place = ObjectKey(collection: source.name(of: collection), key: Key(key))
            guard !place.isReserved else {
                let reason = "the names of Godwit's own collections begin with \"godwit.\""
                throw YapDatabaseError.unreadableData(reason: reason)
            }
            let decoder = source.decoders[collection] ?? source.decoder
            guard let value = try decoder.body(bytes, there) else {
                report.objects[name, default: .init()].declined += 1
                return nil
            }
            let metadata = metadata(of: row, at: there)
            return Decoded(collection: collection, place: place, value: value, metadata: metadata)
        } catch {
            leaveOut(name, row.key.readableText, isMetadata: false, Self.reason(error))
            return nil
        }
    }

    private mutating func metadata(of row: YapObjectRow, at place: ObjectKey) -> Value? {
        guard let bytes = row.metadata.bytes, !bytes.isEmpty else { return nil }
        let collection = place.collection.text
        let decoder = source.metadataDecoders[collection] ?? source.metadataDecoder
        do {
            return try decoder.body(bytes, place)
        } catch {
            leaveOut(collection, place.key.text, isMetadata: true, Self.reason(error))
            return nil
        }
    }

    private mutating func leaveOut(
        _ collection: String,
        _ key: String,
        isMetadata: Bool,
        _ reason: String
    ) {
        report.leaveOut(
            .init(collection: collection, key: key, isMetadata: isMetadata, reason: reason)
        )
    }

    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as YapDatabaseError: error.reason
        case let error as DecodingError: error.reason
        case let error as StoreError:
            if case .unreadableObject(_, let reason) = error { reason } else { error.description }
        default: String(describing: error)
        }
    }
}

// MARK: - Storing

extension ObjectPass {
    private mutating func put(_ objects: [Decoded]) async throws {
        guard !objects.isEmpty else { return }
        guard let store else {
            for object in objects {
                report.objects[object.collection, default: .init()].imported += 1
            }
            return
        }
        let replaces = source.replacesExisting
        let outcome = try await store.write { transaction in
            // The cloud has these objects already, or an operation of CloudCore's brings them there.
            try transaction.skipAutomaticOperations()
            var outcome = Outcome()
            for (index, object) in objects.enumerated() {
                let collection = Store.Collection<Value>(object.place.collection)
                let exists = try transaction.exists(object.place.key.text, in: collection)
                guard replaces || !exists else {
                    outcome.kept.append(index)
                    continue
                }
                if let reason = try Self.put(object, in: transaction) {
                    outcome.leftOut.append((index, reason.isMetadata, reason.text))
                    guard reason.isMetadata else { continue }
                }
                outcome.imported.append(index)
            }
            return outcome
        }
        take(outcome, of: objects)
    }

    /// - Returns: Why the object, or its metadata, is not there now; nil if all of it is.
    private static func put(
        _ object: Decoded,
        in transaction: borrowing WriteTransaction
    ) throws -> (isMetadata: Bool, text: String)? {
        do {
            let value = try transaction.retyped(object.value, at: object.place)
            try transaction.setValue(value, of: object.place)
        } catch let error as StoreError {
            guard error.isOfAnObject else { throw error }
            return (false, reason(error))
        }
        guard let metadata = object.metadata else { return nil }
        let collection = Store.Collection<Value>(object.place.collection)
        let key = object.place.key.text
        do {
            try transaction.replaceMetadata(metadata, of: key, in: collection)
        } catch let error as StoreError {
            guard error.isOfAnObject else { throw error }
            return (true, reason(error))
        }
        return nil
    }

    private mutating func take(_ outcome: Outcome, of objects: [Decoded]) {
        for index in outcome.imported {
            report.objects[objects[index].collection, default: .init()].imported += 1
        }
        for index in outcome.kept {
            report.objects[objects[index].collection, default: .init()].kept += 1
        }
        for (index, isMetadata, reason) in outcome.leftOut {
            let object = objects[index]
            leaveOut(object.collection, object.place.key.text, isMetadata: isMetadata, reason)
        }
    }
}

extension StoreError {
    /// Whether one object is refused, and the others can be stored.
    fileprivate var isOfAnObject: Bool {
        switch self {
        case .unreadableObject, .newerObject, .tooDeep: true
        default: false
        }
    }
}
