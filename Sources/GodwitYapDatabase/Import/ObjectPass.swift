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
    /// The places that objects of several collections may go to, and that this import has replaced.
    var replaced: Set<ObjectKey> = []

    struct Decoded: Sendable {
        let collection: String
        let place: ObjectKey
        let value: Value
        let metadata: Value?
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

    mutating func leaveOut(
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
        case let error as HookRefusal: reason(error.error)
        case let error as StoreError:
            if case .unreadableObject(_, let reason) = error { reason } else { error.description }
        default: String(describing: error)
        }
    }
}
