import GodwitStore
import GodwitTree

@testable import GodwitReplication

/// Two devices and a server, small enough that all their histories can be tried.
struct SmallWorld: Hashable {
    /// A thing that can happen next.
    enum Step: Hashable {
        case edit(Int), send(Int), kill(Int), giveUp(Int), clone(Int)
        /// The request arrives; a copy may stay on its way.
        case serve(Int, isDoubled: Bool)
        case loseRequest(Int), receive(Int), loseAnswer(Int)
        case backUpServer, startServer, restoreServer
    }

    /// What may happen beside edits and messages.
    struct Faults: Hashable {
        var kills = 0
        var doubles = 0
        var losses = 0
        var clones = 0
        var serverStarts = 0
        var serverRestores = 0
    }

    private struct Message<Body: Hashable>: Hashable {
        let device: Int
        let launch: Int
        let request: ReplicaRequest
        let body: Body
    }

    private(set) var devices: [WorldDevice]
    private(set) var server = LineModel(epoch: Epoch(1))
    private var backup: LineModel?
    private var requests: [Message<Bool>] = []
    private var answers: [Message<WireAnswer>] = []
    private var editsDone = [0, 0, 0]
    private var faults: Faults
    private var nextEpoch: UInt64 = 2
    private var startCount: UInt32 = 0
    private var machine: LineMachine { LineMachine(replica: .simulated) }

    static let list = ObjectKey(collection: "lists", key: "a")
    static let card = ObjectKey(collection: "cards", key: "c")

    /// A world in which both devices have a list with one item, and a card.
    init(faults: Faults) throws {
        self.faults = faults
        devices = (0..<2).map { WorldDevice(client: .number($0 + 1)) }
        let list: Value = ["items": [["id": 1]], "count": 0]
        try devices[0].change(Self.list, by: .set(VersionedValue(list)))
        try devices[0].change(Self.card, by: .set(VersionedValue(["text": "old"])))
        for index in 0..<2 { try settle(index) }
        backup = faults.serverRestores > 0 ? server : nil
    }
}

// MARK: - Steps

extension SmallWorld {
    var steps: [Step] {
        var steps: [Step] = []
        for (index, device) in devices.enumerated() {
            if editsDone[index] < 2 { steps.append(.edit(index)) }
            if !device.isWaiting { steps.append(.send(index)) }
            if device.isWaiting, faults.losses > 0 { steps.append(.giveUp(index)) }
            if faults.kills > 0 { steps.append(.kill(index)) }
            if faults.clones > 0, devices.count < 3 { steps.append(.clone(index)) }
        }
        for index in requests.indices {
            steps.append(.serve(index, isDoubled: false))
            if faults.doubles > 0 { steps.append(.serve(index, isDoubled: true)) }
            if faults.losses > 0 { steps.append(.loseRequest(index)) }
        }
        for index in answers.indices {
            steps.append(.receive(index))
            if faults.losses > 0 { steps.append(.loseAnswer(index)) }
        }
        if faults.serverStarts > 0 { steps.append(.startServer) }
        if faults.serverRestores > 0 { steps += [.backUpServer, .restoreServer] }
        return steps
    }

    func after(_ step: Step) throws -> SmallWorld {
        var next = self
        try next.take(step)
        return next
    }

    private mutating func take(_ step: Step) throws {
        switch step {
        case .edit(let index): try edit(index)
        case .send(let index): try send(index)
        case .kill(let index):
            faults.kills -= 1
            devices[index].die()
        case .giveUp(let index):
            faults.losses -= 1
            devices[index].giveUp()
        case .clone(let index):
            faults.clones -= 1
            devices.append(devices[index])
            devices[2].die()
        case .serve(let index, let isDoubled):
            let message = isDoubled ? requests[index] : requests.remove(at: index)
            if isDoubled { faults.doubles -= 1 }
            let answer = try serve(message.request)
            answers.append(
                Message(
                    device: message.device,
                    launch: message.launch,
                    request: message.request,
                    body: answer
                )
            )
        case .loseRequest(let index):
            faults.losses -= 1
            requests.remove(at: index)
        case .loseAnswer(let index):
            faults.losses -= 1
            answers.remove(at: index)
        case .receive(let index):
            let message = answers.remove(at: index)
            guard devices[message.device].launch == message.launch else { return }
            try receive(message.body, to: message.request.request, message.device)
        case .backUpServer: backup = server
        case .startServer:
            faults.serverStarts -= 1
            startServer()
        case .restoreServer:
            guard let backup else { return }
            faults.serverRestores -= 1
            server = backup
            startServer()
            (requests, answers) = ([], [])
        }
    }

    private mutating func startServer() {
        startCount += 1
        server.open(ServerStart(startCount))
    }

    /// The devices insert and remove items, count, and overwrite or remove the card.
    private mutating func edit(_ index: Int) throws {
        let number = editsDone[index]
        editsDone[index] += 1
        switch (index, number) {
        case (0, 0): try insertItem(10, index)
        case (0, _): try devices[index].change(Self.card, by: .set(VersionedValue(["text": "new"])))
        case (1, 0): try insertItem(20, index)
        case (1, _): try removeFirstItem(index)
        default: try insertItem(Int64(30 + number), index)
        }
        let adding = Delta.map(["count": .apply(.adding(1))])
        try devices[index].change(Self.list, by: ObjectDelta(.apply(adding), version: 1))
    }

    private mutating func insertItem(_ number: Int64, _ index: Int) throws {
        try record(index) { $0.items.list.insert(["id": .int(number)] as Value, at: 0) }
    }

    private mutating func removeFirstItem(_ index: Int) throws {
        let items = devices[index].objects[Self.list]?.value["items"]?.list.map(Array.init) ?? []
        guard let place = items.firstIndex(where: { $0["id"] == 1 }) else { return }
        try record(index) { $0.items.list.remove(at: place) }
    }

    private mutating func record(_ index: Int, _ body: (inout Draft) throws -> Void) throws {
        var value = devices[index].objects[Self.list]?.value ?? [:]
        let delta = try value.edit(body)
        guard delta != .keep else { return }
        try devices[index].change(Self.list, by: ObjectDelta(.apply(delta), version: 1))
    }

    // MARK: Messages

    private mutating func send(_ index: Int) throws {
        let request = try devices[index].nextRequest(name: name(index))
        let launch = devices[index].launch
        requests.append(Message(device: index, launch: launch, request: request, body: true))
    }

    /// A name that no other batch has, and that is the same in equal worlds.
    private func name(_ index: Int) -> BatchName {
        BatchName(UInt32(index) << 24 | UInt32(devices[index].slice.identity.nonce))
    }

    private mutating func serve(_ request: ReplicaRequest) throws -> WireAnswer {
        let turn = try request.message.turn(
            machine,
            server,
            from: request.client,
            newEpoch: Epoch(nextEpoch)
        )
        if turn.writes?.epoch != nil { nextEpoch += 1 }
        guard try server.commit(turn.writes, decidedOn: turn.slice) else {
            preconditionFailure("A lone server finds what it has read")
        }
        return turn.answer
    }

    private mutating func receive(
        _ answer: WireAnswer,
        to request: DeviceRequest,
        _ index: Int
    ) throws {
        let fresh = ClientID.number(50 + index)
        try devices[index].receive(answer, to: request, fresh: fresh)
    }
}

// MARK: - The end

extension SmallWorld {
    /// What is wrong after all messages have arrived and all devices have synced.
    func problems() throws -> [String] {
        var world = self
        for message in world.requests { _ = try world.serve(message.request) }
        (world.requests, world.answers) = ([], [])
        for index in world.devices.indices { world.devices[index].die() }
        for _ in 0..<4 {
            for index in world.devices.indices { try world.settle(index) }
        }
        return world.problemsWhenSettled
    }

    private mutating func settle(_ index: Int) throws {
        for _ in 0..<24 {
            let request = try devices[index].nextRequest(name: name(index))
            try receive(try serve(request), to: request.request, index)
            if devices[index].isSettled(with: server.head.state) { return }
        }
    }

    private var problemsWhenSettled: [String] {
        var problems = devices.flatMap(\.problems)
        let objects = server.objects.compactMapValues(\.value)
        for (index, device) in devices.enumerated() where device.objects != objects {
            problems.append("device \(index) has other objects")
        }
        let items = objects[Self.list]?.value["items"]?.list.map(Array.init) ?? []
        let ids = items.compactMap { $0["id"]?.integer }
        for id in [10, 20, 30, 31] as [Int64] where ids.count(where: { $0 == id }) != made(id) {
            problems.append("item \(id) is there \(ids.count(where: { $0 == id })) times")
        }
        if ids.contains(1) == (editsDone[1] > 1) { problems.append("item 1 is wrong") }
        let text = objects[Self.card]?.value["text"]
        if text != (editsDone[0] > 1 ? "new" : "old") { problems.append("the card is wrong") }
        let count = objects[Self.list]?.value["count"]?.integer ?? 0
        let added = Int64(editsDone.reduce(0, +))
        if devices.count == 2, nextEpoch == 2, count != added {
            problems.append("the count is \(count) of \(added)")
        }
        return problems
    }

    /// How often an item was inserted.
    private func made(_ id: Int64) -> Int {
        switch id {
        case 10: min(editsDone[0], 1)
        case 20: min(editsDone[1], 1)
        case 30: min(editsDone[2], 1)
        default: max(editsDone[2] - 1, 0)
        }
    }
}
