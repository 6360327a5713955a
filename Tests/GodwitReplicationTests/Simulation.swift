import GodwitStore
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication

/// Clients, a server and a lossy network in one task, from one seed.
///
/// The document is a list of records whose numbers are never used twice: an
/// insert that is applied twice, or a removal that comes back, cannot hide.
struct Simulation {
    private var random: Seeded
    private var server: ServerMachine
    private var clients: [Client]
    private var delayed: [(request: ExchangeRequest, client: ClientID)] = []
    private var nextNumber: Int64 = 0
    private var inserted: Set<Value> = []
    private var removed: Set<Value> = []
    private let loss: Double

    private(set) var statesMost = 0
    private(set) var unknownBases = 0
    private(set) var duplicates = 0

    private struct Client {
        var machine: ClientMachine
        var nonce: Int64 = 0
    }

    init(seed: UInt64, clientCount: Int, loss: Double) throws {
        random = Seeded(seed: seed)
        self.loss = loss
        let name = try ReplicaName("simulated")
        server = ServerMachine(name: name)
        clients = (1...clientCount).map { number in
            Client(machine: ClientMachine(name: name, client: .number(number)))
        }
    }

    /// Runs some steps of edits and exchanges, with faults; then heals, and lets all finish.
    mutating func run(steps: Int) throws {
        for _ in 0..<steps {
            let index = Int.random(in: clients.indices, using: &random)
            if random.happens(0.6) { try edit(index) }
            if random.happens(0.5) { try exchange(index) }
            if random.happens(0.3), !delayed.isEmpty {
                let late = delayed.removeFirst()
                _ = try? server.receive(late.request, from: late.client)
                note()
            }
        }
        delayed = []
        for _ in 0..<3 {
            for index in clients.indices { try exchange(index, isReliable: true) }
        }
    }

    /// What is wrong at the end: nothing, when the promises hold.
    var faults: [String] {
        let head = server.history.headValue
        var faults: [String] = []
        for client in clients where client.machine.local != head || client.machine.isDirty {
            faults.append("a client has \(client.machine.local), the server \(head)")
        }
        for client in clients where client.machine.base != server.history.head.id {
            faults.append("a client's base is not the head")
        }
        let items = head["items"]?.list ?? []
        if Set(items).count != items.count { faults.append("applied twice: \(head)") }
        if Set(items) != inserted.subtracting(removed) {
            faults.append(
                "lost or come back: \(Set(items).symmetricDifference(inserted.subtracting(removed)))"
            )
        }
        if statesMost > 2 * clients.count + 1 { faults.append("\(statesMost) states were kept") }
        if unknownBases > 0 { faults.append("\(unknownBases) requests had an unknown base") }
        return faults
    }

    private mutating func edit(_ index: Int) throws {
        let local = clients[index].machine.local
        var items = local["items"]?.list ?? []
        let chance = Double.random(in: 0..<1, using: &random)
        if chance < 0.6 || items.isEmpty {
            nextNumber += 1
            let item: Value = ["id": .int(nextNumber)]
            inserted.insert(item)
            items.insert(item, at: .random(in: 0...items.count, using: &random))
        } else if chance < 0.8 {
            removed.insert(items.remove(at: .random(in: items.indices, using: &random)))
        } else {
            let item = items.remove(at: .random(in: items.indices, using: &random))
            items.insert(item, at: .random(in: 0...items.count, using: &random))
        }
        var map = local.map ?? [:]
        map["items"] = .list(items)
        try clients[index].machine.record(.diff(local, .map(map)))
    }

    private mutating func exchange(_ index: Int, isReliable: Bool = false) throws {
        clients[index].nonce += 1
        let request = try clients[index].machine.makeRequest(nonce: clients[index].nonce)
        let client = clients[index].machine.client
        guard isReliable || !random.happens(loss) else { return }
        let isKnown = server.history.index(abbreviation: request.have) != nil
        if !isKnown { unknownBases += 1 }
        if let batch = request.batch, batch.sequence <= server.peers[client]?.sequence ?? 0 {
            duplicates += 1
        }
        let response = try server.receive(request, from: client)
        note()
        if random.happens(0.15) { delayed.append((request, client)) }
        guard isReliable || !random.happens(loss) else { return }
        let sent = try ExchangeResponse(encoded: response.encoded)
        let old = clients[index].machine.local
        let change = try clients[index].machine.receive(sent, to: request)
        let new = try change.applied(to: old)
        precondition(new == clients[index].machine.local)
    }

    /// What is checked after every message.
    private mutating func note() {
        statesMost = max(statesMost, server.history.stateCount)
        for index in server.history.states.indices {
            guard let value = try? server.history.value(at: index) else {
                preconditionFailure("(3) every state is reached from the root")
            }
            precondition(value.digest == server.history.states[index].id.content, "(2)")
        }
    }
}
