import Foundation
import GodwitTestKit

/// The built tool, called as a person would call it.
struct Godwit {
    struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a command to its end.
    static func run(
        _ arguments: String...,
        input: String = "",
        environment: [String: String] = [:]
    ) throws -> Result {
        try run(arguments, input: input, environment: environment)
    }

    static func run(
        _ arguments: [String],
        input: String = "",
        environment: [String: String] = [:]
    ) throws -> Result {
        let process = command(arguments)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return try run(process, input: input)
    }

    /// Runs any command to its end.
    static func run(_ process: Process, input: String = "") throws -> Result {
        let (output, errors, standardInput) = (Pipe.make(), Pipe.make(), Pipe.make())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = standardInput
        try process.start()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let errorText = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errorText, as: UTF8.self)
        )
    }

    /// A command that has not been started.
    static func command(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = BuiltProgram.url("godwit")
        process.arguments = arguments
        return process
    }
}

extension TemporaryFolder {
    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    /// Runs a command of bash in the folder.
    func shell(_ command: String) throws -> Godwit.Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["bash", "-c", command]
        process.currentDirectoryURL = url
        let godwit = BuiltProgram.url("godwit").path
        process.environment = ["PATH": "/usr/bin:/bin", "GODWIT": godwit]
        return try Godwit.run(process)
    }
}

/// A server process on a port of its own, that can be killed and started again.
final class ServerProcess {
    /// What the server is started with, but for its port.
    private let options: [String]
    /// The file that gets what it says of errors.
    private let errors: String
    private(set) var port: Int
    private var process: Process

    /// - Parameter options: What else the server is started with.
    convenience init(store: String, _ options: [String] = []) throws {
        try self.init(["--store", store] + options, errors: store + ".errors")
    }

    init(_ options: [String], errors: String) throws {
        (self.options, self.errors) = (options, errors)
        (process, port) = try Self.start(port: 0, options, errors: errors)
    }

    deinit { kill() }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Whether it has not ended by itself.
    var isRunning: Bool { process.isRunning }

    /// What it has said of errors.
    var errorText: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

    /// Ends the process as a power failure would.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Starts it again on the same port.
    func restart() throws {
        (process, port) = try Self.start(port: port, options, errors: errors)
    }

    /// Asks it to end, and waits until it has.
    func terminate() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static func start(
        port: Int,
        _ options: [String],
        errors: String
    ) throws -> (Process, Int) {
        let process = Godwit.command(["serve", "--port", "\(port)"] + options)
        let output = Pipe.make()
        process.standardOutput = output
        // If the tests crashed, a server that had their standard error would keep `swift test` waiting.
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.start()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let text = line.split(separator: ":").last,
            let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw CocoaError(.fileReadUnknown) }
        return (process, port)
    }
}
