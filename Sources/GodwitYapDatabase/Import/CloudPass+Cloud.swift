internal import GodwitQueue
internal import GodwitStore
internal import GodwitTree

extension CloudPass {
    mutating func importTags(in target: Target?) throws {
        var count = report.tags
        guard let target else {
            try forEachTag { tag in
                if tag == nil { count.leftOut += 1 } else { count.imported += 1 }
            }
            return report.tags = count
        }
        try target.store.write(in: target.database) { transaction in
            try forEachTag { tag in
                guard let tag else { return count.leftOut += 1 }
                let known = try transaction.tag(for: tag.key, identifier: tag.identifier)
                if known != nil, !source.replacesExisting { return count.kept += 1 }
                try transaction.setTag(tag.value, for: tag.key, identifier: tag.identifier)
                count.imported += 1
            }
        }
        report.tags = count
    }

    private func forEachTag(_ body: (CloudTag?) throws -> Void) throws {
        try file.read { database in
            try tables.forEachTag(in: database) { tag in
                try YapDatabaseFile.elsewhere { try body(tag) }
            }
        }
    }

    mutating func importAttachments(in target: Target?) throws {
        var count = report.attachments
        guard let target else {
            try forEachAttachment { attachment in
                guard let attachment else { return count.leftOut += 1 }
                if try !isDeclined(attachment) { count.imported += 1 }
            }
            return report.attachments = count
        }
        try target.store.write(in: target.database) { transaction in
            try forEachAttachment { attachment in
                guard let attachment else { return count.leftOut += 1 }
                let collection = Store.Collection<Value>(source.name(of: attachment.collection))
                let place = collection.place(attachment.key)
                guard try transaction.exists(attachment.key, in: collection) else {
                    if try !isDeclined(attachment) { count.leftOut += 1 }
                    return
                }
                if try transaction.isAttached(attachment.uri, to: place) {
                    return count.kept += 1
                }
                try transaction.attach(attachment.uri, to: place)
                count.imported += 1
            }
        }
        report.attachments = count
    }

    /// Calls `body` with the attachments of wanted collections; nil for one of an object that is gone.
    private func forEachAttachment(
        _ body: (CloudCoreTables.Attachment?) throws -> Void
    ) throws {
        try file.read { database in
            try tables.forEachAttachment(in: database) { attachment in
                if let attachment, !source.isWanted(attachment.collection) { return }
                try YapDatabaseFile.elsewhere { try body(attachment) }
            }
        }
    }

    /// Whether the app does not want the object.
    ///
    /// The object is decoded again: a list of all that were declined could be as long as the file.
    private func isDeclined(_ attachment: CloudCoreTables.Attachment) throws -> Bool {
        let bytes = try file.read { try YapObjectRow.bytes(of: attachment.row, in: $0) }
        guard let bytes else { return false }
        let place = ObjectKey(
            collection: Key(attachment.collection),
            key: Key(attachment.key)
        )
        let decoder = source.decoders[attachment.collection] ?? source.decoder
        do {
            return try decoder.body(bytes, place) == nil
        } catch {
            // The objects' pass has named it.
            return false
        }
    }
}
