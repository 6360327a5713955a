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
    /// While the pipe is open, HAProxy runs: it ends with this program, too.
    private let lifeline: Pipe

    /// - Parameter ports: Those of the three servers.
    init(to ports: [Int], in folder: TemporaryFolder) async throws {
        let errors = folder.path("haproxy.errors")
        // Another program may take the port between the look and the start.
        for _ in 0..<20 {
            let port = try UnreliableProxy.freePort()
            let lifeline = Pipe.make()
            let process = try Self.start(port, ports, errors: errors, lifeline)
            while process.isRunning {
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

    private static let script = """
        exec 3<&0
        haproxy -db -f "$0" &
        program=$!
        (cat <&3 > /dev/null; kill -9 $program) &
        wait $program
        """

    private static func start(
        _ port: Int,
        _ ports: [Int],
        errors: String,
        _ lifeline: Pipe
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let configuration = URL(filePath: #filePath).appending(path: "../../../Deploy/haproxy.cfg")
        process.arguments = ["-c", script, configuration.standardized.path]
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = (environment["PATH"] ?? "/usr/bin") + ":/usr/sbin"
        environment["GODWIT_BIND"] = "127.0.0.1:\(port)"
        for (place, port) in ports.enumerated() {
            environment["GODWIT_NODE_\(place + 1)"] = "127.0.0.1:\(port)"
        }
        process.environment = environment
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardInput = lifeline.fileHandleForReading
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.start()
        try lifeline.fileHandleForReading.close()
        return process
    }
}
