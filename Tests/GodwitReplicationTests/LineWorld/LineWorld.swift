import GodwitStore
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication

/// Devices, a server and a bad network in one task, from one seed: the machines of both sides, on
/// rows in memory.
///
/// Requests and answers are lost, doubled, delayed and reordered; devices are killed, restored and
/// cloned, and compare their objects at any time; the server is started anew, and restored. In some worlds messages are
/// small. Every edit has a number of its own, so that an edit which is lost, made twice or undone cannot
/// hide.
struct LineWorld {
    /// What may go wrong in a world.
    struct Faults {
        var loss = 0.2
        var clones = false
        var deviceRestores = false
        /// How often the server may be restored.
        var serverRestores = 0
        var rejections = false
        /// Whether the server loses much at once while devices have clones or backups: several then give
        /// back the same line, or parts of it, under one name.
        var disaster = false
        /// Whether requests meet between the reading and the writing of another.
        var races = true
    }

    var random: Seeded
    let faults: Faults
    var machine = LineMachine(replica: .simulated)
    var server: LineModel
    var devices: [WorldDevice]
    var ledger = EditLedger()
    private var requests: [(device: Int, launch: Int, request: ReplicaRequest)] = []
    private var answers: [(device: Int, launch: Int, request: DeviceRequest, answer: WireAnswer)] =
        []
    private var serverBackup: LineModel?
    private(set) var serverRestores = 0
    /// How many devices were cloned or restored.
    private(set) var copies = 0
    private(set) var clones = 0
    private var deviceBackups: [Int: (device: WorldDevice, edits: Int)] = [:]
    var problems: [String] = []
    /// What was read of the server, and written to it, in this order.
    private(set) var journal: [ServedTurn] = []
    /// How many objects an answer has at most.
    private let changedMax: Int
    /// Whether each step is printed, to see how a world got where it is.
    var isTraced = false

    static let objectSizeMax = 400

    init(seed: UInt64, devices count: Int, faults: Faults) {
        random = Seeded(seed: seed)
        self.faults = faults
        machine.objectSizeMax = Self.objectSizeMax
        server = LineModel(epoch: Epoch(1))
        // Seeds next to each other may play different kinds: small messages are in all of them.
        let turn = seed / UInt64(Self.kinds.count) % 4
        changedMax = turn < 2 ? 3 : .max
        let batchCountMax = turn < 2 ? Int(turn) + 1 : 4_096
        devices = (0..<count).map {
            WorldDevice(client: .number($0 + 1), batchCountMax: batchCountMax)
        }
    }
}

// MARK: - Running

extension LineWorld {
    /// Runs some random steps, heals everything, and checks what is left.
    mutating func run(steps: Int) {
        do {
            try found()
            for number in 0..<steps {
                if faults.disaster { try strike(number, of: steps) }
                try step()
            }
            try heal()
            check()
        } catch {
            problems.append("\(error)")
        }
    }

    func trace(_ text: @autoclosure () -> String) {
        if isTraced { print(text()) }
    }

    /// Two lists that all devices have, so that what they add up has a common base.
    private mutating func found() throws {
        for list in Self.lists {
            try devices[0].change(list, by: .set(VersionedValue(["items": [], "count": 0])))
        }
        for index in devices.indices { try exchange(index) }
    }

    private mutating func step() throws {
        let index = Int.random(in: devices.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: try edit(index)
        case 30..<60: try send(index)
        case 60..<76: try deliverRequest()
        case 76..<92: try deliverAnswer()
        case 92..<94:
            trace("device \(index) dies")
            devices[index].die()
        case 94: if faults.clones, devices.count < 5 { clone(index) }
        case 95, 96: if faults.deviceRestores { backUpOrRestoreDevice(index) }
        case 97, 98: if faults.serverRestores > 0 { startBackUpOrRestoreServer() }
        case 99 where random.happens(0.5):
            trace("device \(index) compares its objects")
            devices[index].distrust()
        default: devices[index].giveUp()
        }
    }

    private mutating func send(_ index: Int) throws {
        guard !devices[index].isWaiting else { return }
        let request = try devices[index].nextRequest(
            name: BatchName(UInt32(truncatingIfNeeded: random.next()))
        )
        trace("device \(index) sends \(request.request)")
        requests.append((index, devices[index].launch, request))
        if random.happens(0.15) { requests.append((index, devices[index].launch, request)) }
    }

    private mutating func deliverRequest() throws {
        guard !requests.isEmpty else { return }
        let message = requests.remove(at: Int.random(in: requests.indices, using: &random))
        if random.happens(faults.loss) { return }
        let answer = try serve(message.request)
        if random.happens(faults.loss) { return }
        answers.append((message.device, message.launch, message.request.request, answer))
    }

    private mutating func deliverAnswer() throws {
        guard !answers.isEmpty else { return }
        let message = answers.remove(at: Int.random(in: answers.indices, using: &random))
        guard devices[message.device].launch == message.launch else { return }
        try receive(message.answer, to: message.request, message.device)
    }

    private mutating func receive(
        _ answer: WireAnswer,
        to request: DeviceRequest,
        _ index: Int
    ) throws {
        let fresh = ClientID(Identifier(high: random.next(), low: random.next()))
        trace("device \(index) receives \(answer)")
        let client = devices[index].slice.identity.client
        try devices[index].receive(answer, to: request, fresh: fresh)
        // What it had sent under the old id may be in the line, but it cannot know.
        if devices[index].slice.identity.client != client { ledger.noteCopy(of: devices[index]) }
        if devices[index].hasUnited {
            devices[index].hasUnited = false
            ledger.excuseRemovals()
        }
    }

    /// Answers a request as a server with several nodes does: what it decides on may be outdated.
    private mutating func serve(_ request: ReplicaRequest) throws -> WireAnswer {
        let message = try request.message.transmitted(from: request.client)
        while true {
            let old = server
            if faults.races, !requests.isEmpty, random.happens(0.2) {
                let other = requests.remove(at: Int.random(in: requests.indices, using: &random))
                _ = try serve(other.request)
            }
            if faults.races, faults.serverRestores > 0, random.happens(0.05) { startServer() }
            let epoch = Epoch(random.next())
            let turn = try message.turn(
                machine,
                old,
                from: request.client,
                changedMax: changedMax,
                newEpoch: epoch
            )
            let isCurrent = server == old
            let isDone = try server.commit(turn.writes, decidedOn: turn.slice)
            journal.append(ServedTurn(turn, isCurrent: isCurrent, isDone: isDone))
            if isDone, turn.takesPieceAlone(of: message) {
                problems.append("a piece was taken without those before it")
            }
            if isDone { return try turn.answer.transmitted }
        }
    }

    private mutating func heal() throws {
        trace("healing")
        for message in requests { _ = try serve(message.request) }
        requests = []
        answers = []
        for index in devices.indices { devices[index].die() }
        for _ in 0..<8 {
            for index in devices.indices { try exchange(index) }
        }
    }

    /// Exchanges without faults until the device has what the server has.
    private mutating func exchange(_ index: Int) throws {
        for _ in 0..<24 {
            let request = try devices[index].nextRequest(
                name: BatchName(UInt32(truncatingIfNeeded: random.next()))
            )
            trace("device \(index) sends \(request.request)")
            try receive(try serve(request), to: request.request, index)
            if devices[index].isSettled(with: server.head.state) { break }
        }
    }
}

// MARK: - Clones and backups

extension LineWorld {
    private mutating func clone(_ index: Int) {
        trace("device \(index) is cloned as \(devices.count)")
        ledger.noteCopy(of: devices[index])
        copies += 1
        clones += 1
        var copy = devices[index]
        copy.die()
        devices.append(copy)
    }

    private mutating func backUpOrRestoreDevice(_ index: Int) {
        if deviceBackups[index] != nil, random.happens(0.4) {
            restore(index)
        } else {
            backUp(index)
        }
    }

    private mutating func backUp(_ index: Int) {
        ledger.noteCopy(of: devices[index])
        deviceBackups[index] = (devices[index], ledger.edits.count)
    }

    private mutating func restore(_ index: Int) {
        guard let backup = deviceBackups[index] else { return }
        trace("device \(index) is restored")
        let launch = devices[index].launch
        let present = ledger.numbers(in: server.values.map(\.value))
        ledger.excuseEdits(
            of: index,
            since: backup.edits,
            unlessIn: faults.serverRestores > 0 ? nil : present
        )
        copies += 1
        devices[index] = backup.device
        devices[index].launch = launch
        devices[index].die()
    }

    private mutating func startBackUpOrRestoreServer() {
        if random.happens(0.5) { return startServer() }
        guard let backup = serverBackup, random.happens(0.3) else {
            serverBackup = server
            return
        }
        guard serverRestores < faults.serverRestores else { return }
        restoreServer(backup)
    }

    /// Backs the server up early; later, clones devices and restores it.
    ///
    /// From then on devices die often, or are restored, above all in the middle of giving back.
    private mutating func strike(_ number: Int, of steps: Int) throws {
        if number == steps / 4 { serverBackup = server }
        if number == steps / 3, faults.deviceRestores {
            for index in devices.indices { backUp(index) }
        }
        if number == steps / 2, let backup = serverBackup {
            for _ in 0..<8 { for index in devices.indices { try edit(index) } }
            for _ in 0..<2 { for index in devices.indices { try exchange(index) } }
            let originals = devices.indices.prefix(faults.clones ? 2 : 0)
            for index in originals { clone(index) }
            // In half of the worlds they go on before their clones do.
            for index in originals where random.happens(0.5) {
                try edit(index)
                try exchange(index)
            }
            restoreServer(backup)
        }
        guard number > steps / 2 else { return }
        for _ in 0..<4 {
            try send(Int.random(in: devices.indices, using: &random))
            try deliverRequest()
            try deliverAnswer()
        }
        guard random.happens(0.2) else { return }
        let giver = devices.indices.first {
            server.stagings[devices[$0].slice.identity.client] != nil
        }
        let index = giver ?? Int.random(in: devices.indices, using: &random)
        if faults.deviceRestores, random.happens(0.5) {
            restore(index)
            try edit(index)
        } else {
            devices[index].die()
        }
    }

    private mutating func restoreServer(_ backup: LineModel) {
        serverRestores += 1
        trace("the server is restored")
        for device in devices { ledger.noteCopy(of: device) }
        server = backup
        startServer()
        requests = []
        answers = []
        ledger.excuseRestoredAuthors()
    }

    private mutating func startServer() {
        trace("the server starts at \(server.head.state.serial)")
        server.open(ServerStart(UInt32(truncatingIfNeeded: random.next())))
    }
}

extension ReplicaName {
    static let simulated: ReplicaName = "simulated"
}

extension ClientID {
    static func number(_ number: Int) -> ClientID {
        let bytes = [UInt8](repeating: 0, count: 15) + [UInt8(number)]
        guard let identifier = Identifier(bytes: bytes) else { preconditionFailure("16 bytes") }
        return ClientID(identifier)
    }
}
