internal import Foundation
internal import Synchronization

/// A PostgreSQL server of a test's own: in a temporary folder, behind a Unix socket, with fsync on.
///
/// It ends with the last reference to it, and with this program, however that ends. It fails where
/// PostgreSQL is not installed: no test that needs it may seem to pass.
public final class PostgreSQLCluster: Sendable {
    /// What a program of PostgreSQL said when it failed.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let folder: TemporaryFolder
    private let programs: PostgreSQLPrograms
    /// While the pipe is open, a shell waits; then it stops the server and removes the folder.
    private let lifeline = Pipe.make()
    private let names = Atomic(0)
    private let settings: [String]

    /// One server for all tests of this program that do it no harm.
    package static func shared() async throws -> PostgreSQLCluster { try await common.value }

    private static let common = Task { try await PostgreSQLCluster() }

    /// - Parameter settings: Those that differ from PostgreSQL's own, such as `synchronous_commit=local`.
    public init(_ settings: [String] = []) async throws {
        self.settings = settings
        programs = try PostgreSQLPrograms()
        folder = try TemporaryFolder()
        try programs.own(folder.url.path)
        try programs.leave(
            script: "cat > /dev/null; \"$0\" -D \"$1\" -m immediate -w stop; rm -rf \"$2\"",
            [data, folder.url.path],
            input: lifeline
        )
        try await programs.run(
            "initdb",
            ["-D", data, "-A", "trust", "-U", "godwit", "-E", "UTF8", "--locale=C", "--no-sync"]
        )
        try await start()
    }

    private var data: String { folder.path("data") }

    /// Starts the server, also after it was killed.
    package func start() async throws {
        let settings =
            [
                "listen_addresses=", "fsync=on", "shared_buffers=16MB", "max_connections=100",
                "deadlock_timeout=200ms",
            ] + self.settings
        let arguments = ["-D", data, "-k", folder.url.path] + settings.flatMap { ["-c", $0] }
        let log = folder.path("log")
        // What a killed server leaves behind it ends by itself.
        for _ in 0..<100 {
            let process = try programs.leave("postgres", arguments, log: log)
            while process.isRunning {
                // It says with its status whether it lets clients in.
                let isReady = try? await programs.run("pg_isready", ["-q", "-h", folder.url.path])
                if isReady != nil { return }
            }
            let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            guard text.contains("in use") || text.contains("already exists") else {
                throw Failure(description: text)
            }
        }
        throw Failure(description: "the server does not start again")
    }

    /// Ends the server as its administrator would.
    package func stop() async throws {
        try await programs.run("pg_ctl", ["-D", data, "-m", "fast", "-w", "stop"])
    }

    /// Copies the database while it is used; a later copy takes the place of this one.
    package func backUp() async throws {
        try? FileManager.default.removeItem(atPath: backup)
        try await programs.run(
            "pg_basebackup",
            ["-h", folder.url.path, "-U", "godwit", "-D", backup, "-c", "fast", "-X", "stream"]
        )
    }

    /// Puts the database back as it was when it was copied, and starts the server, which was killed.
    package func restore() async throws {
        // What a killed server leaves behind may still write for a moment.
        let old = folder.path("lost")
        try? FileManager.default.removeItem(atPath: old)
        try FileManager.default.moveItem(atPath: data, toPath: old)
        try FileManager.default.moveItem(atPath: backup, toPath: data)
        try await start()
    }

    private var backup: String { folder.path("backup") }

    /// Kills the server's first process; the others notice, and end.
    package func kill() throws { try signal(SIGKILL) }

    /// Stops the server's first process: it takes connections, and answers nothing.
    package func suspend() throws { try signal(SIGSTOP) }

    package func resume() throws { try signal(SIGCONT) }

    private func signal(_ signal: Int32) throws {
        let lines = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
        guard let number = lines.split(separator: "\n").first.flatMap({ Int32($0) }) else {
            throw Failure(description: "the server has no process")
        }
        Foundation.kill(number, signal)
    }

    /// Runs one of PostgreSQL's programs on the server, and returns what it says.
    @discardableResult
    public func run(_ program: String, _ arguments: [String]) async throws -> String {
        try await programs.run(
            program,
            ["-h", folder.url.path, "-U", "godwit"] + arguments + ["postgres"]
        )
    }

    /// Makes a new database, and returns its address.
    public func database() async throws -> String {
        let number = names.add(1, ordering: .relaxed).newValue
        let name = "test\(number)"
        _ = try await query("CREATE DATABASE \(name)")
        return address(of: name)
    }

    package func address(of name: String) -> String {
        "postgres://godwit@/\(name)?host=\(folder.url.path)"
    }

    /// Runs SQL beside what is tested, and returns the rows as text.
    @discardableResult
    public func query(_ sql: String, in address: String? = nil) async throws -> String {
        let address = address ?? self.address(of: "postgres")
        let text = try await programs.run(
            "psql",
            [address, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql]
        )
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
