public import GodwitStore

extension StoreTransaction where Self: ~Copyable {
    /// The places in the cloud that an object is attached to.
    public borrowing func attachments(of key: ObjectKey) throws -> Set<String> {
        guard try hasQueue() else { return [] }
        return try AttachmentTable.uris(of: key, in: database)
    }

    /// Whether an object is attached to a place, which is one search in an index.
    package borrowing func isAttached(_ uri: String, to key: ObjectKey) throws -> Bool {
        guard try hasQueue() else { return false }
        return try AttachmentTable.contains(uri, of: key, in: database)
    }

    /// The objects that are attached to a place in the cloud.
    public borrowing func objects(attachedTo uri: String) throws -> Set<ObjectKey> {
        guard try hasQueue() else { return [] }
        return try AttachmentTable.keys(attachedTo: uri, in: database)
    }
}

extension WriteTransaction {
    /// Says that an object has to do with a place in the cloud; many may have to do with many.
    ///
    /// An object that is not there yet is attached at the end of this transaction, if it is there
    /// then. One that is removed is detached with that. To attach twice is to attach once.
    public borrowing func attach(_ uri: String, to key: ObjectKey) throws {
        if try value(of: key) != nil {
            try journal().update(in: self) { _ in }
            try AttachmentTable.add(uri, to: key, in: database)
        } else {
            try journal().update(in: self) { draft in
                _ = draft.pendingAttachments[key, default: []].insert(uri)
            }
        }
    }

    /// Takes that back; without an attachment nothing happens.
    public borrowing func detach(_ uri: String, from key: ObjectKey) throws {
        try journal().update(in: self) { draft in
            _ = draft.pendingAttachments[key]?.remove(uri)
        }
        try AttachmentTable.remove(uri, from: key, in: database)
    }
}
