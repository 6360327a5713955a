import ArgumentParser
import Foundation
import GodwitTree
import Testing

@testable import GodwitServer
@testable import GodwitTool

/// The files in Deploy say what this program understands.
@Suite struct DeployTests {
    private func text(_ name: String) throws -> String {
        let url = URL(filePath: #filePath).appending(path: "../../../Deploy/\(name)").standardized
        return try String(contentsOf: url, encoding: .utf8)
    }

    private func resolved(_ arguments: [String]) throws -> ServeOptions {
        try Serve.parse(arguments).options.over(try ServeOptions(environment: [:]))
    }

    @Test func `the unit's command and its file of options are taken`() throws {
        let unit = try text("godwit.service")
        let command = try #require(unit.firstMatch(of: /(?m)^ExecStart=\S+ serve (.*)$/))
        let serve = try Serve.parse(command.1.split(separator: " ").map(String.init))
        #expect(serve.config == "/etc/godwit/server.json")
        let lines = unit.split(separator: "\n").filter { $0.hasPrefix("#") && $0.contains("\"") }
        let example = lines.map { $0.dropFirst() }.joined()
        let options = try Value(json: Array(example.utf8)).map
        let names = try #require(options).map(\.key.text)
        #expect(names.count == 5 && names.allSatisfy(ServeOptions.names.contains), "\(names)")
    }

    @Test func `the image's command is taken`() throws {
        let command = try #require(try text("Dockerfile").firstMatch(of: /(?m)^CMD (\[.*\])$/))
        let arguments = try Value(json: Array(command.1.utf8)).list?.compactMap(\.text)
        let options = try resolved(try #require(arguments))
        try options.check()
        #expect(options.access == .keys && options.host == "0.0.0.0")
    }

    @Test func `the balancer asks for a route that is there`() throws {
        let path = try text("haproxy.cfg").firstMatch(of: /http-check send meth GET uri (\S+)/)?.1
        #expect(path.map(String.init) == ServerRoute.ready.path)
    }

    @Test func `the deployment's arguments are taken, and its probes are routes`() throws {
        let manifest = try text("kubernetes.yaml")
        let arguments = manifest.matches(of: /(?m)^ +- (--\S+)$/).map { String($0.1) }
        #expect(arguments.count == 5)
        // The Service would else set GODWIT_PORT to its own address, which is no port.
        #expect(manifest.contains("enableServiceLinks: false"))
        #expect(throws: (any Error).self) {
            try ServeOptions(environment: ["GODWIT_PORT": "tcp://10.0.0.1:80"])
        }
        let options = try resolved(arguments)
        try options.check()
        #expect(options.access == .keys && options.limits.requestRate == 50)
        let probes = manifest.matches(of: /httpGet: \{path: ([^,]+), port: http\}/).map {
            String($0.1)
        }
        #expect(probes == [ServerRoute.live.path, ServerRoute.ready.path])
    }
}
