internal import GRDB
internal import GodwitStore

/// The client's machine, and what its row says beside it.
struct DeviceState: Sendable {
    var machine: ClientMachine
    /// Whether the row has to be written.
    var isChanged = false
    private var nonce: Int64
    private var reserved: Int64

    /// Nonces are reserved in blocks, so that a request without a batch writes nothing.
    private static let nonceBlock: Int64 = 1_024

    init(machine: ClientMachine, reserved: Int64) {
        self.machine = machine
        self.reserved = reserved
        nonce = reserved
    }

    mutating func makeRequest() throws -> ExchangeRequest {
        nonce += 1
        if nonce > reserved {
            reserved = nonce + Self.nonceBlock
            isChanged = true
        }
        let sequence = machine.sequence
        let request = try machine.makeRequest(nonce: nonce)
        if machine.sequence != sequence { isChanged = true }
        return request
    }

    mutating func save(as number: ReplicaNumber, in database: Database) throws {
        try HistoryTable.apply(machine.history.takeWrites(), to: number, in: database)
        guard isChanged else { return }
        isChanged = false
        let row = PeerTable.Device(
            client: machine.client,
            base: machine.base,
            sequence: machine.sequence,
            nonce: reserved
        )
        try PeerTable.set(row, of: number, in: database)
    }
}

/// A client's replica as it was stored, or a new one.
struct OpenedReplica: Sendable {
    let number: ReplicaNumber
    let device: DeviceState
    let isNew: Bool

    init(_ name: ReplicaName, in transaction: borrowing WriteTransaction) throws {
        let database = transaction.database
        if let number = try HistoryTable.number(of: name, role: .client, in: database),
            let row = try PeerTable.device(of: number, in: database)
        {
            let history = try HistoryTable.load(number, in: database)
            let machine = try ClientMachine(
                name: name,
                client: row.client,
                history: history,
                base: row.base,
                sequence: row.sequence
            )
            self.number = number
            device = DeviceState(machine: machine, reserved: row.nonce)
            isNew = false
            return
        }
        number = try HistoryTable.insert(name, role: .client, in: database)
        let client = ClientID(transaction.newIdentifier())
        var device = DeviceState(machine: ClientMachine(name: name, client: client), reserved: 0)
        device.isChanged = true
        try device.save(as: number, in: database)
        self.device = device
        isNew = true
        transaction.touch()
    }
}
