import GodwitConnectors
import GodwitTestKit
import GodwitTree

@testable import GodwitReplication

/// A device's connection to the server, which loses, doubles, delays and damages messages.
struct Link: ReplicaTransport {
    let world: SyncWorld
    let device: Device
    let process: Int

    /// Where two processes serve, messages take a multiple of these milliseconds.
    private static let tick = 100
    private static let lost = ConnectorError.interrupted(reason: "lost")

    func create(_ replica: ReplicaName) async throws {}

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        world.noteRequest(of: device, as: client)
        let age = world.networkAge
        try await travel()
        if happens(0.15) { sendLater(body, as: client) }
        guard device.isOnline, age == world.networkAge, !happens(0.12) else { throw Self.lost }
        world.note("device \(device.index) asks")
        var answer = try await world.ask(body, as: client)
        world.note("device \(device.index) is answered")
        try await travel()
        guard device.isOnline, age == world.networkAge, !happens(0.12) else { throw Self.lost }
        if happens(0.05) { answer[answer.count / 2] ^= 0x40 } else { world.look(at: answer) }
        return answer
    }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            guard device.isOnline, let launch = world.anyHostLaunch(), let server = launch.server
            else { return continuation.finish(throwing: Self.lost) }
            world.note("device \(device.index) follows the server")
            let look = world.host.isShared ? look(with: server, in: launch, continuation) : nil
            let task = world.run(in: launch) {
                defer {
                    look?.cancel()
                    world.note("device \(device.index) follows no more")
                }
                do {
                    for await head in try await server.heads(of: replica) {
                        guard device.isOnline, !happens(0.1) else { break }
                        continuation.yield(head)
                    }
                    continuation.finish(throwing: Self.lost)
                } catch {
                    continuation.finish(throwing: Self.lost)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Tells the heads that another process of the server makes, as ``ReplicaRoutes`` does.
    private func look(
        with server: ReplicaServer,
        in launch: HostLaunch,
        _ continuation: AsyncThrowingStream<LineState, any Error>.Continuation
    ) -> Task<Void, any Error> {
        world.run(in: launch) {
            while true {
                try await world.clock.sleep(for: .seconds(20))
                do { continuation.yield(try await server.head(of: .simulated)) } catch {
                    return continuation.finish(throwing: Self.lost)
                }
            }
        }
    }

    /// Lets a copy of a request arrive at some later time.
    private func sendLater(_ body: [UInt8], as client: ClientID) {
        guard let launch = world.anyHostLaunch() else { return }
        let age = world.networkAge
        let delay = Duration.milliseconds(Int.random(in: 1...5_000, using: &world.random))
        let world = world
        let executor = world.scheduler.executor(of: launch.process)
        let task = Task(executorPreference: executor) {
            try await world.clock.sleep(for: delay)
            guard age == world.networkAge else { return }
            _ = try await world.ask(body, as: client)
        }
        world.copies.append { task.cancel() }
    }

    private func travel() async throws {
        let longest = world.isSlow ? 8_000 : world.isNetworkBad ? 400 : 2
        let delay = Int.random(in: 0...longest, using: &world.random)
        // Requests that arrive at one moment are decided beside each other.
        let arrival = world.host.isShared ? delay - delay % Self.tick : delay
        try await world.clock.sleep(for: .milliseconds(arrival))
    }

    private func happens(_ probability: Double) -> Bool {
        world.isNetworkBad && world.random.happens(probability)
    }
}

extension SyncWorld {
    /// Has the server answer a request, in its own process.
    func ask(_ body: [UInt8], as client: ClientID) async throws -> [UInt8] {
        guard let launch = anyHostLaunch(), let server = launch.server else {
            throw ConnectorError.unreachable(reason: "no server")
        }
        if isHealed { healedRequestCount += 1 }
        let faults = host.machine.faultCount
        do {
            return try await run(in: launch) {
                try await server.answer(body, from: client, of: .simulated)
            }.value
        } catch {
            let isExpected =
                host.machine.mayFail(launch.process, since: faults) || !host.isAlive(launch)
                || launch.store.isPoisoned || error as? ReplicationError == .contended
            if !isExpected { violate("the server refuses: \(error)") }
            note("the server fails: \(error)")
            throw ConnectorError.unreachable(reason: "the server fails")
        }
    }

    /// Notes that a device has taken another id: what it had sent under the old one may be in the line,
    /// but it cannot know.
    func noteRequest(of device: Device, as client: ClientID) {
        if let last = device.client, last != client { books.noteCopy(of: device) }
        device.client = client
    }

    /// Where the server does not know a device, nothing is taken for removed.
    func look(at answer: [UInt8]) {
        guard let frame = try? WireFrame(bytes: answer, budget: .standard),
            case .recovery(let answer)? = try? WireAnswer(frame), answer.way == .unite
        else { return }
        books.excuseRemovals()
    }
}
