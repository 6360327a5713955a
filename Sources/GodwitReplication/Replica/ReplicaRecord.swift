internal import GRDB
public import GodwitStore

/// A replica as it stands in a store, a server's or a device's, for looking at.
public struct ReplicaRecord: Sendable {
    /// On which side of the network the store is.
    public enum Role: String, Sendable {
        case device, server
    }

    /// A state that is kept, and how it came from the one before.
    public struct State: Sendable {
        public let state: LineState
        /// The changes since the state before; nil where they are not kept.
        public let changes: [ObjectKey: ObjectDelta]?
        /// The size of the changes as they are stored, in bytes.
        public let sizeInBytes: Int
    }

    /// A name for a state: git's ref.
    public struct Ref: Hashable, Sendable {
        public let name: String
        public let state: LineState
    }

    public let name: String
    public let role: Role
    /// The states that are kept, the root first and the newest last.
    public let states: [State]
    public let refs: [Ref]
    /// How many objects have changes that no state holds yet.
    public let pendingCount: Int
    /// How a device stands; nil on a server.
    public let status: ReplicaStatus?

    /// All replicas of a store, the server's and the device's.
    public static func all(in store: Store) async throws -> [ReplicaRecord] {
        try await store.read { transaction in
            let database = transaction.connection
            var records: [ReplicaRecord] = []
            if try database.tableExists("godwit_line") {
                for name in try LineTable.names(in: database) {
                    records.append(try ReplicaRecord(line: name, in: database))
                }
            }
            if try database.tableExists("godwit_device_replica") {
                for (number, name) in try DeviceTable.names(in: database) {
                    records.append(try ReplicaRecord(device: number, name, in: database))
                }
            }
            return records
        }
    }
}

// MARK: - Reading

extension ReplicaRecord {
    private init(line name: String, in database: Database) throws {
        let line = try LineTable.number(of: ReplicaName(name), in: database)
        let head = try LineTable.head(of: line, collections: [], in: database).state
        var refs = [Ref(name: "head", state: head)]
        let kept = [.root] + (try LineTable.states(of: line, in: database))
        let bySerial = Dictionary(uniqueKeysWithValues: kept.map { ($0.serial, $0) })
        for (client, peer) in try LinePeerTable.all(of: line, in: database) {
            let short = client.description.prefix(4)
            for (word, serial) in [("acked", peer.acked), ("sent", peer.sent)] {
                guard let state = bySerial[serial] else { continue }
                refs.append(Ref(name: "\(word)/\(short)", state: state))
            }
        }
        var states = [State(state: .root, changes: nil, sizeInBytes: 0)]
        for (before, state) in zip(kept, kept.dropFirst()) {
            let step = try LineObjectTable.steps(
                after: before.serial,
                until: state.serial,
                of: line,
                in: database
            )
            // What came before the oldest state is folded away.
            let isKnown = before != .root || state.serial == 1
            states.append(
                State(
                    state: state,
                    changes: isKnown ? step.changes : nil,
                    sizeInBytes: step.sizeInBytes
                )
            )
        }
        self.init(
            name: name,
            role: .server,
            states: states,
            refs: refs,
            pendingCount: 0,
            status: nil
        )
    }

    private init(device number: DeviceNumber, _ name: String, in database: Database) throws {
        let replica = try DeviceTable.replica(number, in: database)
        let states = [LineState.root] + (replica.base == .root ? [] : [replica.base])
        self.init(
            name: name,
            role: .device,
            states: states.map { State(state: $0, changes: nil, sizeInBytes: 0) },
            refs: [Ref(name: "base", state: replica.base)],
            pendingCount: try PendingTable.count(of: number, in: database),
            status: try ReplicaStatus(
                of: number,
                DeviceTable.server(of: number, in: database),
                in: database
            )
        )
    }
}
