extension Starter {
    var manifest: String {
        """
        // swift-tools-version:6.2
        import PackageDescription

        let package = Package(
            name: "\(name)",
            platforms: [.macOS(.v15)],
            dependencies: [.package(\(dependency))],
            targets: [
                .executableTarget(
                    name: "\(name)",
                    dependencies: [
                        .product(name: "Godwit", package: "godwit"),
                        .product(name: "GodwitServer", package: "godwit"),
                    ]
                )
            ],
            swiftLanguageModes: [.v6]
        )

        """
    }

    var readme: String {
        """
        # \(name)

        A shopping list that devices edit offline and keep in sync, made with Godwit.

        Start the server in one terminal:

        ```sh
        swift run \(name) serve
        ```

        Use two devices in another one. Each device is a file, `phone.sqlite` and `tablet.sqlite`:

        ```sh
        swift run \(name) phone add Bread
        swift run \(name) tablet add Wine
        swift run \(name) phone sync
        swift run \(name) tablet sync
        swift run \(name) tablet cross Bread
        swift run \(name) tablet list
        ```

        `swift run \(name) phone follow` shows the list whenever it changes. End the server, edit on, and
        start it again: nothing is lost.

        - `Item.swift` has the objects, their collection and its index.
        - `Device.swift` opens the store and its replica, and edits the list.
        - `\(name)App.swift` is the command line.

        `godwit store ls phone.sqlite items --values` and `godwit top phone.sqlite` look into a device.

        """
    }

    static let item = """
        import Foundation
        import Godwit

        /// A line of the list.
        struct Item: Codable, Identifiable, Equatable, Sendable {
            var id = UUID()
            var name: String
            var isCrossed = false
            var quantity = 1
        }

        let items = Store.Collection<Item>("items")
        let byName = Store.Index("byName", on: Field(\\Item.isCrossed), Field(\\Item.name))

        /// What is left to buy, by name.
        let openItems = items.where(\\.isCrossed, .equal(false)).order(by: \\.name)

        """

    static let device = """
        import Godwit

        /// A device: a store in a file of its own, and its replica of the list.
        struct Device {
            let store: Store
            private let transport: HTTPTransport
            private let connector: ReplicaConnector
            private let list: Replica

            init(_ name: String, server: String = "http://127.0.0.1:7007") async throws {
                var options = Store.Options()
                options.collections = [CollectionRules(items, indexes: [byName])]
                // One command may follow the list while another one edits it.
                options.processes = .several
                store = try Store(.file("\\(name).sqlite"), options: options)
                transport = try HTTPTransport(server: server)
                connector = try ReplicaConnector(store, transport: transport)
                list = try await connector.open("shopping", collections: items)
            }

            /// Puts an item on the list; one more, if it is there already.
            func add(_ name: String) async throws {
                try await store.write { transaction in
                    let found = try transaction.objects(openItems.where(\\.name, .equal(name)))
                    if let item = found.first {
                        // An edit is recorded: what two devices add, adds up.
                        try transaction.edit(item.object.id, in: items) { $0.quantity += 1 }
                    } else {
                        try transaction.set(Item(name: name), in: items)
                    }
                }
            }

            func cross(_ name: String) async throws {
                try await store.write { transaction in
                    for row in try transaction.objects(openItems.where(\\.name, .equal(name))) {
                        try transaction.edit(row.object.id, in: items) { $0.isCrossed = true }
                    }
                }
            }

            /// Exchanges changes with the server once.
            func sync() async throws {
                try await transport.create(list.name)
                try await connector.synchronize(list.name)
                for record in try await list.conflicts() {
                    for conflict in record.conflicts.values { print("conflict: \\(conflict.path)") }
                }
            }

            /// Keeps the replica in sync until the task is cancelled.
            func stayInSync() async throws {
                while true {
                    do {
                        try await transport.create(list.name)
                        break
                    } catch ConnectorError.unreachable(let reason) {
                        print("offline: \\(reason)")
                        try await Task.sleep(for: .seconds(5))
                    }
                }
                try await connector.run()
            }
        }

        """

    var app: String {
        """
        import Godwit
        import GodwitServer

        @main
        struct \(name)App {
            static let usage = "usage: \(name) serve | DEVICE add|cross NAME | DEVICE list|sync|follow"

            static func main() async throws {
                let words = Array(CommandLine.arguments.dropFirst())
                switch (words.first, words.dropFirst().first, words.count) {
                case ("serve", nil, 1): try await serve()
                case (let device?, "add", 3): try await Device(device).add(words[2])
                case (let device?, "cross", 3): try await Device(device).cross(words[2])
                case (let device?, "list", 2): try await list(on: Device(device))
                case (let device?, "sync", 2): try await Device(device).sync()
                case (let device?, "follow", 2): try await follow(Device(device))
                default: print(usage)
                }
            }

            /// A server on this machine; `godwit serve` is one with access control, TLS and logs.
            static func serve() async throws {
                try await SyncServer(store: try Store(.file("server.sqlite"))) { port in
                    print("listening on http://127.0.0.1:\\(port)")
                }.run()
            }

            static func list(on device: Device) async throws {
                let rows = try await device.store.read { try $0.objects(openItems) }
                for row in rows { print("\\(row.object.quantity) x \\(row.object.name)") }
            }

            /// Shows the list now, and whenever it changes, while the device stays in sync.
            static func follow(_ device: Device) async throws {
                let syncing = Task {
                    do {
                        try await device.stayInSync()
                    } catch {
                        print("the list is not in sync any more: \\(error)")
                    }
                }
                defer { syncing.cancel() }
                for try await rows in device.store.values(of: openItems) {
                    print(rows.map { "\\($0.object.quantity) x \\($0.object.name)" }.joined(separator: ", "))
                }
            }
        }

        """
    }
}
