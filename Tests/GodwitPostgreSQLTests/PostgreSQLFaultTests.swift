#if PostgreSQL
import GodwitReplication
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitPostgreSQL

/// Databases that end, hang and fill up keep each acknowledged edit, and keep it once.
@Suite(.timeLimit(.minutes(Soak.minutesMax)), .serialized) struct PostgreSQLFaultTests {
    @Test func `a server that is killed under load loses nothing that it has acknowledged`()
        async throws
    {
        let cluster = try await PostgreSQLCluster()
        let database = try await newDatabase(on: cluster)
        let node = try await PostgreSQLNode(database)
        let devices = try await newDevices(4, on: node.server)
        let kills = 4 * Soak.factor
        let count = try await underLoad(devices, through: [node.server]) { acknowledged in
            for _ in 0..<kills {
                try await acknowledged.grows(by: 12)
                try cluster.kill()
                try await cluster.start()
            }
        }
        try await expect(count, on: devices, through: node.server)
        try await expectSound(database, clients: 4)
    }

    @Test func `a database that is restarted is waited for, and one that was never there is not`()
        async throws
    {
        let cluster = try await PostgreSQLCluster()
        let database = try await newDatabase(on: cluster)
        #expect(try await database.integer("SELECT 8::BIGINT") == 8)
        try await cluster.stop()
        let new = database.again()
        await #expect(throws: PostgreSQLError.self) { try await new.integer("SELECT 8::BIGINT") }
        async let found = database.integer("SELECT 8::BIGINT")
        try await cluster.start()
        #expect(try await found == 8)
    }

    @Test func `a task that is cancelled ends although the server answers nothing`() async throws {
        let cluster = try await PostgreSQLCluster()
        let database = try await newDatabase(on: cluster) { $0.cancelMax = .milliseconds(200) }
        let task = Task { try await database.integer("SELECT 8::BIGINT FROM pg_sleep(60)") }
        try await database.again().wait(
            for: "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        ) { $0 == 1 }
        try cluster.suspend()
        defer { try? cluster.resume() }
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
    }

    @Test func `connections that are ended in the midst of their work lose nothing`() async throws {
        let database = try await newDatabase()
        let nodes = [
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again()),
        ]
        let other = database.again { $0.connectionMax = 1 }
        let devices = try await newDevices(4, on: nodes[0].server)
        let count = try await underLoad(devices, through: nodes.map(\.server)) { acknowledged in
            for _ in 0..<(20 * Soak.factor) {
                try await acknowledged.grows(by: 3)
                _ = try await other.integer(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """
                )
            }
        }
        try await expect(count, on: devices, through: nodes[1].server)
        try await expectSound(database, clients: 4)
    }

    @Test func `a commit that is done although its connection ends is told as done`() async throws {
        let cluster = try await PostgreSQLCluster(Self.waitsForStandby)
        let database = try await newDatabase(on: cluster) { $0.connectionMax = 1 }
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        try await device.add(1)
        // The commit will be on the disk, and wait for a standby that is not there.
        try await database.pool.run { try $0.execute("SET synchronous_commit = on") }
        let exchange = Task { try await device.synchronize(with: node.server) }
        try await Self.untilCommitWaits(on: cluster)
        try await cluster.query("SELECT pg_terminate_backend(pid) \(Self.waiting)")
        try await exchange.value
        try await expect(1, on: [device], through: node.server)
        #expect(try await node.server.head(of: .tested).serial == 2)
    }

    @Test func `a commit that is not done when its connection ends is made again`() async throws {
        let database = try await newDatabase()
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        try await device.add(1)
        try await database.pool.run { session in
            try session.execute(
                """
                CREATE SEQUENCE commits;
                CREATE FUNCTION end_first() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('commits') <= 3 THEN
                        PERFORM pg_terminate_backend(pg_backend_pid());
                        PERFORM pg_sleep(1);
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER end_first AFTER UPDATE ON godwit_line_peer
                    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_first()
                """
            )
        }
        try await device.synchronize(with: node.server)
        #expect(try await database.integer("SELECT last_value FROM commits") > 3)
        try await expect(1, on: [device], through: node.server)
        #expect(try await node.server.head(of: .tested).serial == 2)
    }

    @Test func `a commit of which nothing can be learnt is an error, and its device asks again`()
        async throws
    {
        let cluster = try await PostgreSQLCluster(Self.waitsForStandby)
        let database = try await newDatabase(on: cluster) {
            ($0.connectionMax, $0.attemptMax, $0.backoff.last) = (1, 2, .milliseconds(1))
        }
        let node = try await PostgreSQLNode(database)
        let device = try await newDevices(1, on: node.server)[0]
        try await device.add(1)
        try await database.pool.run { try $0.execute("SET synchronous_commit = on") }
        let exchange = Task { try await device.synchronize(with: node.server) }
        try await Self.untilCommitWaits(on: cluster)
        try cluster.kill()
        await #expect(throws: PostgreSQLError.unknownOutcome) { try await exchange.value }
        try await cluster.start()
        try await expect(1, on: [device], through: node.server)
        #expect(try await node.server.head(of: .tested).serial == 2)
    }

    private static let waitsForStandby = [
        "synchronous_standby_names=ghost", "synchronous_commit=local",
    ]
    private static let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

    private static func untilCommitWaits(on cluster: PostgreSQLCluster) async throws {
        for _ in 0..<10_000 {
            if try await cluster.query("SELECT count(*) \(waiting)") == "1" { return }
        }
        throw PostgreSQLError.timedOut
    }

    @Test func `transactions that the database cannot put in an order are made again`() async throws
    {
        let database = try await newDatabase()
        try await database.pool.run { session in
            try session.execute("CREATE TABLE pair (number BIGINT PRIMARY KEY, count BIGINT)")
            try session.execute("INSERT INTO pair VALUES (1, 0), (2, 0)")
        }
        // Each pair of rows is locked in both orders: some of these transactions are deadlocks.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        let order: [Int64] = task % 2 == 0 ? [1, 2] : [2, 1]
                        try await database.write { session in
                            for number in order {
                                try session.query(
                                    "UPDATE pair SET count = count + 1 WHERE number = $1",
                                    [.integer(number)]
                                )
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.integer("SELECT sum(count)::BIGINT FROM pair") == 80)
    }
}

// MARK: - Load

extension PostgreSQLFaultTests {
    /// Has devices edit and exchange until faults have been made, and returns how many edits there were.
    private func underLoad(
        _ devices: [TestDevice],
        through servers: [ReplicaServer],
        _ makeFaults: (Acknowledgements) async throws -> Void
    ) async throws -> Int {
        let acknowledged = Acknowledgements()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, device) in devices.enumerated() {
                group.addTask {
                    var edit = 0
                    while !acknowledged.isOver {
                        try await device.add(1_000 * place + edit)
                        edit += 1
                        await exchange(device, servers, edit)
                        acknowledged.add()
                    }
                }
            }
            defer { acknowledged.end() }
            try await makeFaults(acknowledged)
            acknowledged.end()
            try await group.waitForAll()
        }
        return acknowledged.count
    }

    /// Asks again until a server answers, as the queue of a device does.
    private func exchange(_ device: TestDevice, _ servers: [ReplicaServer], _ edit: Int) async {
        var attempt = 0
        while !Task.isCancelled {
            let server = servers[(edit + attempt) % servers.count]
            if (try? await device.synchronize(with: server)) != nil { return }
            attempt += 1
            await Task.yield()
        }
    }

    /// What no query of the storage looks at: sums that do not fit the objects, and states that are left.
    private func expectSound(_ database: PostgreSQLDatabase, clients: Int64) async throws {
        let counts = try await database.integer(
            """
            SELECT count(*) FROM godwit_line_collection AS sums WHERE count <> (
                SELECT count(*) FROM godwit_line_object AS object
                WHERE object.line = sums.line AND object.collection = sums.collection)
            """
        )
        #expect(counts == 0)
        let states = try await database.integer("SELECT count(*) FROM godwit_line_state")
        #expect(states <= 2 * clients + 2)
        let twice = try await database.integer(
            "SELECT count(*) FROM godwit_line_entry AS entry WHERE NOT EXISTS ("
                + "SELECT 1 FROM godwit_line AS line WHERE line.number = entry.line"
                + " AND line.serial >= entry.serial)"
        )
        #expect(twice == 0)
    }
}

/// How many edits servers have acknowledged.
private final class Acknowledgements: Sendable {
    private let state = Mutex((count: 0, isOver: false))
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() { (arrivals, arrival) = AsyncStream.makeStream() }

    var count: Int { state.withLock(\.count) }
    var isOver: Bool { state.withLock(\.isOver) }

    func add() {
        state.withLock { $0.count += 1 }
        arrival.yield()
    }

    func end() { state.withLock { $0.isOver = true } }

    /// Waits until there are some more.
    func grows(by more: Int) async throws {
        var left = more
        try await arrivals.reaches { _ in
            left -= 1
            return left == 0
        }
    }
}
#endif
