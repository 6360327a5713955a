internal import Foundation

/// The programs of an installed PostgreSQL, run as a user that they accept.
struct PostgreSQLPrograms: Sendable {
    private let folder: String
    private let isRoot = getuid() == 0
    private static let user = "postgres"

    /// - Throws: ``PostgreSQLCluster/Failure`` when there is none.
    init() throws {
        let named = ProcessInfo.processInfo.environment["GODWIT_POSTGRESQL_BIN"].map { [$0] }
        let found = (named ?? Self.usual).first {
            FileManager.default.isExecutableFile(atPath: "\($0)/initdb")
        }
        guard let found else {
            throw PostgreSQLCluster.Failure(
                description:
                    "PostgreSQL is not installed: see `make setup`, or set GODWIT_POSTGRESQL_BIN"
            )
        }
        folder = found
    }

    /// Where packages put them, the newest first.
    private static var usual: [String] {
        let roots = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"]
        return roots.flatMap { root in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
            return names.filter { $0.hasPrefix("postgresql@") || Int($0) != nil }
                .sorted { $0.localizedStandardCompare($1) == .orderedDescending }
                .map { "\(root)/\($0)/bin" }
        }
    }

    /// Gives a folder to the user that the programs run as.
    func own(_ path: String) throws {
        guard isRoot else { return }
        try FileManager.default.setAttributes(
            [.ownerAccountName: Self.user, .posixPermissions: 0o700],
            ofItemAtPath: path
        )
    }

    /// Runs a program to its end, and returns what it says.
    ///
    /// - Throws: ``PostgreSQLCluster/Failure``.
    @discardableResult
    func run(_ name: String, _ arguments: [String]) async throws -> String {
        let process = process(["\(folder)/\(name)"] + arguments)
        let output = Pipe.make()
        (process.standardOutput, process.standardError) = (output, output)
        let (text, status) = try await withCheckedThrowingContinuation { continuation in
            Thread {
                do {
                    try process.start()
                    let bytes = output.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    let text = String(decoding: bytes, as: UTF8.self)
                    continuation.resume(returning: (text, process.terminationStatus))
                } catch {
                    continuation.resume(throwing: error)
                }
            }.start()
        }
        guard status == 0 else {
            throw PostgreSQLCluster.Failure(description: "\(name) failed: \(text)")
        }
        return text
    }

    /// Starts a program that goes on beside the tests.
    ///
    /// - Parameter log: The file that gets what it says.
    func leave(_ name: String, _ arguments: [String], log: String) throws -> Process {
        let process = process(["\(folder)/\(name)"] + arguments)
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: log)
        try process.start()
        return process
    }

    /// Starts a script that waits for the end of its input.
    func leave(script: String, _ arguments: [String], input: Pipe) throws {
        let process = process(["/bin/sh", "-c", script, "\(folder)/pg_ctl"] + arguments)
        process.standardInput = input.fileHandleForReading
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        try input.fileHandleForReading.close()
    }

    /// The programs refuse to run as root.
    private func process(_ words: [String]) -> Process {
        let process = Process()
        let user = Self.user
        let before =
            isRoot
            ? ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--init-groups", "--"]
            : []
        let all = before + words
        process.executableURL = URL(filePath: all[0])
        process.arguments = Array(all.dropFirst())
        process.currentDirectoryURL = URL(filePath: "/")
        return process
    }
}
