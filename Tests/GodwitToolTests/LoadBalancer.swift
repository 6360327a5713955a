import Foundation
import GodwitTestKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// HAProxy on loopback, with the configuration that `Deploy` has.
final class LoadBalancer {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let port: Int
    private let process: Process
    /// While the pipe is open, a shell waits; then it ends HAProxy, which so ends with this program, too.
    private let lifeline: Pipe

    /// - Parameter ports: Those of the three servers.
    init(to ports: [Int], in folder: TemporaryFolder) async throws {
        let errors = folder.path("haproxy.errors")
        // Another program may take the port between the look and the start.
        for _ in 0..<20 {
            let port = try UnreliableProxy.freePort()
            let process = try Self.start(port, ports, errors: errors)
            let lifeline = try Self.lifeline(of: process)
            for _ in 0..<Self.attemptMax where process.isRunning {
                let url = URL(string: "http://127.0.0.1:\(port)/health/live")
                let answer = try? await URLSession.shared.data(from: url ?? URL(filePath: "/"))
                if (answer?.1 as? HTTPURLResponse)?.statusCode == 200 {
                    (self.port, self.process, self.lifeline) = (port, process, lifeline)
                    return
                }
            }
        }
        let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        throw Failure(description: "HAProxy does not start: see `make setup`. \(text)")
    }

    deinit {
        try? lifeline.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    var url: String { "http://127.0.0.1:\(port)" }

    private static let attemptMax = 2_000

    private static func lifeline(of program: Process) throws -> Pipe {
        let (shell, pipe) = (Process(), Pipe.make())
        shell.executableURL = URL(filePath: "/bin/sh")
        let script = "cat > /dev/null; kill -9 \(program.processIdentifier)"
        shell.arguments = ["-c", script]
        shell.standardInput = pipe.fileHandleForReading
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.start()
        try pipe.fileHandleForReading.close()
        return pipe
    }

    private static func start(_ port: Int, _ ports: [Int], errors: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let configuration = URL(filePath: #filePath).appending(path: "../../../Deploy/haproxy.cfg")
        process.arguments = ["haproxy", "-db", "-f", configuration.standardized.path]
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = (environment["PATH"] ?? "/usr/bin") + ":/usr/sbin"
        environment["GODWIT_BIND"] = "127.0.0.1:\(port)"
        for (place, port) in ports.enumerated() {
            environment["GODWIT_NODE_\(place + 1)"] = "127.0.0.1:\(port)"
        }
        process.environment = environment
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.start()
        return process
    }
}
