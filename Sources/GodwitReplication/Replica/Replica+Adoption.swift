internal import GodwitStore
internal import GodwitTree

// What an answer changes in the store, beside the rows of the replica.

extension Replica {
    func join(
        _ collections: Set<Key>,
        in transaction: borrowing WriteTransaction
    ) throws {
        let database = transaction.connection
        let known = try DeviceTable.collections(of: number, in: database)
        let new = collections.subtracting(known)
        try store.checkSuitability(of: new)
        // Records of conflicts, and rules, join with the objects that they are about.
        let records = Set(known.union(new).flatMap(ReplicaCollection.records))
        for collection in new.subtracting(records).sorted() {
            // The server must not choose which of the app's objects are sent to it.
            guard try DeviceTable.isFree(collection, in: database) else {
                throw ReplicationError.unsuitableCollection(
                    collection.text,
                    reason: "the server has objects of it, and the app has not named it"
                )
            }
            try DeviceTable.join(collection, to: number, in: database)
        }
    }

    func adopt(
        _ adoption: Adoption,
        replacing old: DeviceReplica,
        _ identity: DeviceIdentity,
        in transaction: borrowing WriteTransaction
    ) throws {
        recorder.takeNoSteps(in: transaction)
        // Those of a first download come at once: in the order of hashes they would touch each page anew.
        for key in adoption.objects.keys.sorted(by: { $0.precedes($1) }) {
            if let object = adoption.objects[key] ?? nil {
                try transaction.setValue(object.value, version: object.version, of: key)
            } else {
                try transaction.removeValue(of: key)
            }
        }
        let device = device(in: transaction)
        try device.write(adoption, replacing: old)
        if adoption.identity.client != identity.client {
            // The client that they had is in the server's row until then.
            try leaveOthersBehind(device)
            try DeviceTable.forgetLeft(server, in: device.database)
            try DeviceTable.set(adoption.identity, for: server, in: device.database)
        } else if adoption.identity.nonce > identity.nonce {
            nonces.pass(adoption.identity.nonce)
        }
        transaction.touch()
    }

    /// A clone of this device has all of its replicas.
    private func leaveOthersBehind(_ device: StoredDevice) throws {
        let numbers = try DeviceTable.replicas(of: server, in: device.database)
        for number in numbers where number != self.number {
            let other = device.of(number)
            let slice = try other.wholeSlice(with: [])
            try other.write(slice.leftBehind(), replacing: slice.replica)
        }
    }
}

extension Adoption {
    /// Whether anything is other than before; fetched objects go with the next base.
    func changes(_ replica: DeviceReplica, _ identity: DeviceIdentity) -> Bool {
        if case .more = fetched { return true }
        return self.replica != replica || self.identity != identity || !pending.isEmpty
            || !objects.isEmpty
    }
}

extension WireAnswer {
    /// The collections of the objects that arrive.
    var collections: Set<Key> {
        switch self {
        case .exchange(let answer), .restoration(let answer):
            return Set(answer.keys.map(\.collection))
        case .recovery, .comparison(nil), .lastChanges: return []
        case .comparison(let answers?):
            var collections: Set<Key> = []
            for case .objects(let objects) in answers {
                collections.formUnion(objects.keys.map(\.collection))
            }
            return collections
        }
    }
}
