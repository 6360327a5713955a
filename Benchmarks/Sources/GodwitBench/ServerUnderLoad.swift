import Foundation
import GodwitPostgreSQL
import GodwitServer
import GodwitStore
import Logging

/// A process of this program that serves replicas.
struct ServerUnderLoad: Sendable {
    enum Storage {
        case file(String)
        /// A file whose keys may each make so many requests a second.
        case limited(String, requestRate: Int)
        /// The address of a PostgreSQL database.
        case database(String)
    }

    let port: Int
    private let process: Int32

    /// Starts the process, and waits until it listens.
    init(serving storage: Storage) throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments =
            switch storage {
            case .file(let path): ["--serve", path]
            case .limited(let path, let rate): ["--serve-limited", path, "\(rate)"]
            case .database(let address): ["--serve-database", address]
            }
        process.standardOutput = output
        try process.run()
        self.process = process.processIdentifier
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw RawConnection.Failed(description: "the server says: \(line)")
        }
        self.port = port
    }

    /// Serves until the process is killed, and prints the port.
    static func serve(_ storage: Storage) async throws {
        var logger = Logger(label: "bench")
        logger.logLevel = .critical
        let whenListening: @Sendable (Int) async -> Void = { port in
            FileHandle.standardOutput.write(Data("\(port)\n".utf8))
        }
        let server =
            switch storage {
            case .file(let path):
                SyncServer(
                    store: try Store(.file(path)),
                    port: 0,
                    logger: logger,
                    whenListening: whenListening
                )
            case .limited(let path, let rate):
                SyncServer(
                    store: try Store(.file(path)),
                    port: 0,
                    options: Self.limited(to: rate),
                    logger: logger,
                    whenListening: whenListening
                )
            case .database(let address):
                SyncServer(
                    database: PostgreSQLDatabase(try PostgreSQLAddress(address)),
                    port: 0,
                    logger: logger,
                    whenListening: whenListening
                )
            }
        try await server.run()
    }

    private static func limited(to requestRate: Int) -> SyncOptions {
        var options = SyncOptions(access: .keys)
        options.limits.requestRate = Double(requestRate)
        return options
    }

    func stop() { kill(process, SIGKILL) }

    /// The seconds of CPU that the process has taken: fields 14 and 15 of Linux's `stat`, in ticks.
    var cpuSeconds: Double {
        get throws {
            let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
            else { throw WrongResult() }
            return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }
    }

    var residentBytes: Int {
        get throws {
            let fields = try String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
                .split(separator: " ")
            guard fields.count > 1, let pages = Int(fields[1]) else { throw WrongResult() }
            return pages * Int(getpagesize())
        }
    }
}
