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

    /// - Parameter ports: Those of the three servers.
    init(to ports: [Int], in folder: TemporaryFolder) async throws {
        let errors = folder.path("haproxy.errors")
        // Another program may take the port between the look and the start.
        for _ in 0..<20 {
            let port = try UnreliableProxy.freePort()
            let process = try Self.start(port, ports, errors: errors)
            while process.isRunning {
                let url = URL(string: "http://127.0.0.1:\(port)/health/live")
                let answer = try? await URLSession.shared.data(from: url ?? URL(filePath: "/"))
                if (answer?.1 as? HTTPURLResponse)?.statusCode == 200 {
                    (self.port, self.process) = (port, process)
                    return
                }
            }
        }
        let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        throw Failure(description: "HAProxy does not start: see `make setup`. \(text)")
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    var url: String { "http://127.0.0.1:\(port)" }

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
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(forWritingAtPath: errors)
        try process.start()
        return process
    }
}
