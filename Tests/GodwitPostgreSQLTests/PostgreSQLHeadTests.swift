#if PostgreSQL
import Dispatch
import Foundation
import GodwitReplication
import GodwitStore
import GodwitTestKit
import Logging
import Testing

@testable import GodwitPostgreSQL

/// Nodes tell each other of new heads, and hear of them by notices.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLHeadTests {
    @Test func `a stream on one node hears of each commit through another one by its notice`()
        async throws
    {
        let database = try await newDatabase { $0.hearsNoticesAlone() }
        let (ours, theirs) = (
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again())
        )
        let device = try await newDevices(1, on: theirs.server)[0]
        try await running([ours, theirs]) {
            let heads = try await ours.server.heads(of: .tested)
            // The first one may be found at the start of listening, and no other one.
            for number in 0..<5 {
                try await expect(heads, toReach: number, of: device, through: theirs, database)
            }
        }
    }

    @Test func `a node that loses its listening connection hears by notices again`() async throws {
        let (passes, pass) = AsyncStream.makeStream(of: Void.self)
        let database = try await newDatabase { options in
            options.hearsNoticesAlone()
            let pollInterval = options.pollInterval
            options.backoff.sleep = { duration in
                // A node that has lost its connection asks for heads once, and no more.
                if duration >= pollInterval { for await _ in passes { break } }
            }
        }
        let (ours, theirs) = (
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again())
        )
        let device = try await newDevices(1, on: theirs.server)[0]
        try await running([ours, theirs]) {
            let heads = try await ours.server.heads(of: .tested)
            for round in 0..<3 {
                try await database.untilListening()
                for number in 0..<3 {
                    let edit = 10 * round + number
                    try await expect(heads, toReach: edit, of: device, through: theirs, database)
                }
                #expect(try await database.endListening() == 1)
                pass.yield()
            }
        }
    }

    @Test func `a node that cannot listen asks for the heads that are followed`() async throws {
        let database = try await newDatabase()
        let ours = ReplicaServer(try await PostgreSQLLineStorage(database))
        let theirs = try await PostgreSQLNode(database.again())
        let device = try await newDevices(1, on: theirs.server)[0]
        let (polls, poll) = AsyncStream.makeStream(of: Void.self)
        var options = database.options
        options.backoff.sleep = { _ in for await _ in polls { break } }
        let nowhere = PostgreSQLDatabase(
            try PostgreSQLAddress("postgres://user@/name?host=/nowhere"),
            options: options
        )
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let listener = HeadListener(nowhere, ours, node: 1, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await listener.run() }
            defer { group.cancelAll() }
            let heads = try await ours.heads(of: .tested)
            for number in 0..<3 {
                try await device.add(number)
                try await device.synchronize(with: theirs.server)
                let head = try await theirs.server.head(of: .tested)
                poll.yield()
                try await database.within { try await heads.reaches { $0 == head } }
            }
        }
    }

    @Test func `a node listens on the channels of what is followed, and on no other ones`()
        async throws
    {
        let names = try (0..<1_000).map { try ReplicaName("replica-\($0)") }
        #expect(Set(names.map(HeadChannel.name)).count == Int(HeadChannel.count))
        let notice = HeadNotice(node: .max, replica: names[7])
        #expect(HeadNotice(payload: notice.payload) == notice)
        for payload in ["", " ", "12", "xyz name", "1 ../x", "1 a b"] {
            #expect(HeadNotice(payload: payload) == nil)
        }
    }

    @Test func `a replica whose turn is taken holds up no notice of another one`() async throws {
        let database = try await newDatabase { $0.hearsNoticesAlone() }
        let (ours, theirs) = (
            try await PostgreSQLNode(database), try await PostgreSQLNode(database.again())
        )
        let slow = ReplicaName("slow")
        try await ours.server.create(slow)
        let device = try await newDevices(1, on: theirs.server)[0]
        try await running([ours, theirs]) {
            let heads = try await ours.server.heads(of: .tested)
            let slowHeads = try await ours.server.heads(of: slow)
            try await database.untilListening()
            try await database.locked(slow) {
                // It waits for the lock in its turn.
                let client = ClientID(Identifiers.random.next())
                async let _ = ours.server.forget(client, of: slow)
                let waiting = """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                try await database.wait(for: waiting) { $0 == 1 }
                try await database.notify(of: [slow])
                for number in 0..<5 {
                    try await expect(heads, toReach: number, of: device, through: theirs, database)
                }
            }
            withExtendedLifetime(slowHeads) {}
        }
    }

    @Test func `a replica that comes while a node asks to listen is listened for, too`()
        async throws
    {
        let database = try await newDatabase { $0.hearsNoticesAlone() }
        let node = try await PostgreSQLNode(database)
        let names = try await replicas(onChannels: [0, 1, 2], of: node)
        try await running([node]) {
            let others = [try await node.server.heads(of: names[0])]
            try await database.untilListening()
            var streams: [AsyncStream<LineState>] = []
            try await database.stopping(PostgreSQLDatabase.listening) {
                streams.append(try await node.server.heads(of: names[1]))
                // The node asks to listen for it, and gets no answer yet.
                try await database.passTime()
                streams.append(try await node.server.heads(of: names[2]))
            }
            // No notice of another replica has the node look again at what is followed.
            try await expect([streams[1]], toHearOf: [names[2]], database)
            withExtendedLifetime(others) {}
        }
    }

    @Test func `a commit before a node begins to listen is heard of by all who follow`()
        async throws
    {
        let database = try await newDatabase { $0.hearsNoticesAlone() }
        let node = try await PostgreSQLNode(database)
        let names = try await replicas(onChannels: [0, 0], of: node)
        try await running([node]) {
            // The connection that will listen has only been made.
            let new = "\(PostgreSQLDatabase.own) AND query LIKE 'SET idle%' AND state = 'idle'"
            try await database.wait(for: "SELECT count(*) \(new)") { $0 == 1 }
            var streams: [AsyncStream<LineState>] = []
            try await database.stopping(new) {
                streams.append(try await node.server.heads(of: names[0]))
                try await database.passTime()
                streams.append(try await node.server.heads(of: names[1]))
                try await database.moveHeads(of: names)
            }
            try await expect(streams, toHearOf: [], database)
        }
    }

    @Test func `a notice that could not be sent is sent when the database can be asked`()
        async throws
    {
        let database = try await newDatabase {
            ($0.connectionMax, $0.waitingMax, $0.backoff.last) = (1, 0, .milliseconds(1))
        }
        let ear = try await SessionThread.connect(to: database.address, database.options)
        defer { ear.end() }
        try await ear.run { session in
            Result { try session.execute("LISTEN \(HeadChannel.name(of: .tested))") }
        }.get()
        let (failures, failure) = AsyncStream.makeStream(of: Void.self)
        let logger = Logger(label: "test") { _ in EventLog(event: failure) }
        let herald = HeadHerald(database, node: 9, logger: logger)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let isDone = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await herald.run() }
            group.addTask {
                try await database.pool.run { _ in
                    start.yield()
                    isDone.wait()
                }
            }
            defer { group.cancelAll() }
            for await _ in starts { break }
            herald.tell(of: .tested)
            for await _ in failures { break }
            isDone.signal()
            let payloads = try await ear.run { session in
                Result {
                    _ = session.waitForNotifications(atMost: .seconds(20))
                    return try session.notifications().map(\.payload)
                }
            }.get()
            #expect(payloads == [HeadNotice(node: 9, replica: .tested).payload])
        }
    }

    @Test func `a node listens on although a head could not be read`() async throws {
        let database = try await newDatabase { options in
            options.hearsNoticesAlone()
            options.backoff.sleep = { _ in await Task.yield() }
        }
        let (failures, failure) = AsyncStream.makeStream(of: Void.self)
        let logger = Logger(label: "test") { _ in EventLog(event: failure) }
        let node = try await PostgreSQLNode(database, logger: logger)
        try await node.server.create(.tested)
        // As a database that lacks something else than notifications.
        try await database.pool.run { session in
            try session.execute(
                """
                ALTER TABLE godwit_line RENAME TO line;
                CREATE TABLE refusal (line BIGINT);
                CREATE FUNCTION refuses() RETURNS BOOLEAN LANGUAGE plpgsql VOLATILE AS $$ BEGIN
                    IF EXISTS (SELECT 1 FROM refusal) THEN
                        RAISE EXCEPTION 'no' USING ERRCODE = 'feature_not_supported';
                    END IF;
                    RETURN FALSE;
                END $$;
                CREATE VIEW godwit_line AS SELECT * FROM line WHERE NOT refuses()
                """
            )
        }
        try await running([node]) {
            let heads = try await node.server.heads(of: .tested)
            try await database.untilListening()
            try await database.pool.run { try $0.execute("INSERT INTO refusal VALUES (1)") }
            try await database.notify(of: [.tested])
            try await database.within { for await _ in failures { break } }
            try await database.pool.run { try $0.execute("DELETE FROM refusal") }
            try await database.within { try await database.untilListening() }
            try await database.pool.run { try $0.execute("UPDATE line SET serial = 7") }
            try await database.notify(of: [.tested])
            try await database.within { try await heads.reaches { $0.serial == 7 } }
        }
    }

    /// Makes replicas, each on a channel of a number; equal numbers are the same channel.
    private func replicas(
        onChannels numbers: [Int],
        of node: PostgreSQLNode
    ) async throws -> [ReplicaName] {
        let names = try (0..<1_000).map { try ReplicaName("replica-\($0)") }
        let channels = Dictionary(grouping: names, by: HeadChannel.name).values.map { $0 }
        var found: [ReplicaName] = []
        for number in numbers {
            let name = channels[number].first { !found.contains($0) }
            found.append(try #require(name))
        }
        for name in found { try await node.server.create(name) }
        return found
    }

    /// Has another node make heads, and waits for those that streams are to hear of.
    private func expect(
        _ streams: [AsyncStream<LineState>],
        toHearOf names: [ReplicaName],
        _ database: PostgreSQLDatabase
    ) async throws {
        try await database.moveHeads(of: names)
        try await database.within {
            for heads in streams { try await heads.reaches { $0.serial == 7 } }
        }
    }

    /// Commits through another node, and waits for the head that it has made.
    private func expect(
        _ heads: AsyncStream<LineState>,
        toReach number: Int,
        of device: TestDevice,
        through node: PostgreSQLNode,
        _ database: PostgreSQLDatabase
    ) async throws {
        try await device.add(number)
        try await device.synchronize(with: node.server)
        let head = try await node.server.head(of: .tested)
        try await database.within { try await heads.reaches { $0 == head } }
    }
}

extension PostgreSQLDatabase {
    /// Tells of replicas as another node does.
    fileprivate func notify(of names: [ReplicaName]) async throws {
        try await write { session in
            for name in names {
                try session.query(
                    "SELECT 1 FROM pg_notify($1, $2)",
                    [
                        .text(HeadChannel.name(of: name)),
                        .text(HeadNotice(node: 1, replica: name).payload),
                    ]
                )
            }
        }
    }

    /// Gives replicas a head with the serial 7, as another node does.
    fileprivate func moveHeads(of names: [ReplicaName]) async throws {
        try await write { session in
            for name in names {
                try session.query(
                    "UPDATE godwit_line SET serial = 7 WHERE number = $1",
                    [LineNumber(name).parameter]
                )
            }
        }
        try await notify(of: names)
    }

    /// Stops the server's process behind a connection while a body runs.
    ///
    /// - Parameter connection: What stands behind the columns of a query that finds it.
    fileprivate func stopping(_ connection: String, _ body: () async throws -> Void) async throws {
        let process = pid_t(try await integer("SELECT pid::BIGINT \(connection)"))
        kill(process, SIGSTOP)
        defer { kill(process, SIGCONT) }
        try await body()
    }

    /// Lets some time go by, in which the database is asked and answers.
    fileprivate func passTime() async throws {
        for _ in 0..<50 { _ = try await integer("SELECT 1::BIGINT") }
    }
}

/// A log that says when something is logged.
private struct EventLog: LogHandler {
    let event: AsyncStream<Void>.Continuation
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(event: AsyncStream<Void>.Continuation) { self.event = event }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { self.event.yield() }
}
#endif
