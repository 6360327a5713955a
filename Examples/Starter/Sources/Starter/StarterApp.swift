import Godwit
import GodwitServer

@main
struct StarterApp {
    static let usage = "usage: Starter serve | DEVICE add|cross NAME | DEVICE list|sync|follow"

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
            print("listening on http://127.0.0.1:\(port)")
        }.run()
    }

    static func list(on device: Device) async throws {
        let rows = try await device.store.read { try $0.objects(openItems) }
        for row in rows { print("\(row.object.quantity) x \(row.object.name)") }
    }

    /// Shows the list now, and whenever it changes, while the device stays in sync.
    static func follow(_ device: Device) async throws {
        let syncing = Task {
            do {
                try await device.stayInSync()
            } catch {
                print("the list is not in sync any more: \(error)")
            }
        }
        defer { syncing.cancel() }
        for try await rows in device.store.values(of: openItems) {
            print(rows.map { "\($0.object.quantity) x \($0.object.name)" }.joined(separator: ", "))
        }
    }
}
