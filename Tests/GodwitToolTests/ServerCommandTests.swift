#if PostgreSQL
import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit server migrate`, called as a person would call it.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct ServerCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a server moves from a file to a database and back, with its keys`() async throws {
        let (old, new) = (folder.path("old.sqlite"), folder.path("new.sqlite"))
        let address = try await PostgreSQLCluster.shared().database()
        let made = try Godwit.run("key", "new", "phone", "--store", old, "--create", "*")
        let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        do {
            let server = try ServerProcess(store: old, ["--keys"])
            let transport = try HTTPTransport(server: server.url, token: token)
            for name in ["family-7.list", "shopping"] {
                try await transport.create(ReplicaName(name))
            }
            let inUse = try Godwit.run("server", "migrate", old, address)
            #expect(inUse.status == 1 && !inUse.errors.isEmpty, "\(inUse.output)")
        }
        let there = try Godwit.run("server", "migrate", old, address)
        #expect(there.status == 0, "\(there.errors)")
        #expect(
            there.output == """
                family-7.list: 1 rows
                shopping: 1 rows
                copied: 2 replicas, and the keys

                """
        )
        let again = try Godwit.run("server", "migrate", old, address)
        #expect(again.status == 1 && again.errors.contains("\"family-7.list\""))
        let replaced = try Godwit.run("server", "migrate", old, address, "--replace", "--json")
        let value = try Value(json: replaced.output)
        #expect(value["replicas"]?.list?.count == 2, "\(replaced.errors)")
        let back = try Godwit.run("server", "migrate", address, new)
        #expect(back.status == 0, "\(back.errors)")
        let server = try ServerProcess(store: new, ["--keys"])
        let list = try HTTPTransport(server: server.url, token: token)
        #expect(try await list.fetch("", of: ReplicaName("shopping"))["objects"] == 0)
    }

    @Test func `what is no move is refused before anything is made`() throws {
        let file = folder.path("none.sqlite")
        for arguments in [
            [], [file], [file, folder.path("other.sqlite")],
            [file, "postgres://x@localhost/y", "--database", "postgres://x@localhost/y"],
        ] {
            let result = try Godwit.run(["server", "migrate"] + arguments)
            #expect(result.status == 64, "\(arguments): \(result.errors)")
        }
        let missing = try Godwit.run("server", "migrate", file, "postgres://x@localhost/y")
        #expect(missing.status == 1 && missing.errors.contains("no such file"))
    }
}
#endif
