import ArgumentParser
import Foundation
import GodwitReplication
import GodwitStore
import GodwitTree

/// Lists which client has changed each object of a server's replica last.
struct ReplicaBlame: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame",
        abstract: "List which client has changed each object of a server's replica last.",
        discussion: """
            The store may be in use: this only looks. An object that an earlier version of
            the server has stored is not listed.

            EXAMPLES
              godwit replica blame server.sqlite
              godwit replica blame server.sqlite --name shopping --collection items
              godwit replica blame server.sqlite --json
            """
    )

    @OptionGroup var argument: ReplicaArgument
    @Option(help: "Objects of this collection alone.") var collection: String?
    @Flag(help: "Print one list of objects.") var json = false

    func run() async throws {
        let name = try await argument.serverName()
        let store = try Store(.file(argument.replica), options: .readOnly)
        let changes = try await ReplicaServer.lastChanges(of: name, in: store).filter { key, _ in
            collection.map { key.collection.text == $0 } ?? !key.isReserved
        }
        try store.close()
        guard !json else {
            let lines = changes.map { key, change -> Value in
                [
                    "collection": .string(key.collection), "key": .string(key.key),
                    "client": .string(Key(change.client.description)),
                    "serial": .int(change.serial),
                    "date": .string(Key(change.date.formatted(.iso8601))),
                ]
            }
            return try Terminal.print(json: .list(Value.List(lines)))
        }
        let rows = changes.map { key, change in
            [
                key.description, change.client.description, "#\(change.serial)",
                change.date.formatted(.iso8601),
            ]
        }
        try Terminal.print(rows.isEmpty ? "no object's last change is known" : Terminal.table(rows))
    }
}
