import Foundation
import Godwit
import GodwitServer
import Observation

// One household, two devices, and a server of their own. The phone has used the first version of the app.

@main @MainActor struct Household {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "household-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (phonePath, tabletPath) = (
            folder.path + "/phone.sqlite", folder.path + "/tablet.sqlite"
        )
        try await useFirstVersion(path: phonePath)

        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = SyncServer(store: try Store(.memory), port: 0) { port.yield($0) }
        let serving = Task { try await server.run() }
        defer { serving.cancel() }
        var opened = ports.makeAsyncIterator()
        let transport = try HTTPTransport(server: "http://127.0.0.1:\(await opened.next() ?? 0)")
        try await transport.create("household")

        let phone = try await Device(phonePath, transport)
        let tablet = try await Device(tabletPath, transport)
        try await phone.store.write { try $0.set(Item(id: "b", name: "Bread"), in: items) }
        for device in [phone, tablet] { try await device.sync() }
        try await show("The tablet has what the phone had", on: tablet)

        // Both are offline: the queue of each store keeps what has to be sent.
        try await phone.edit("b") { $0.quantity += 2 }
        try await tablet.edit("b") { $0.quantity += 1 }
        try await phone.edit("w") { $0.name = "Red wine" }
        try await tablet.edit("w") { $0.name = "White wine" }
        try await tablet.edit("e") { $0.isCrossed = false }

        // A screen follows the phone's store while the tablet's edits come in.
        let screen = LiveQuery(openItems, in: phone.store)
        for device in [tablet, phone, tablet] { try await device.sync() }
        while !screen.rows.contains(where: { $0.object.name == "Eggs" }) {
            await change(of: screen)
        }
        try await show("Both have added bread, 1 + 2 + 1", on: phone)
        try await settleConflicts(on: phone)
        for device in [phone, tablet] { try await device.sync() }
        try await show("Settled, on the tablet too", on: tablet)
        try await uploadReceipt(from: phone.store)
    }

    static func useFirstVersion(path: String) async throws {
        let store = try Store(.file(path))
        try await store.write { transaction in
            for (id, name, done) in [
                ("m", "Milk", false), ("w", "Wine", false), ("e", "Eggs", true),
            ] {
                try transaction.set(ItemV1(id: id, name: name, done: done), in: firstItems)
            }
        }
        try store.close()
    }

    /// Waits until a screen would have to be drawn again.
    static func change(of screen: LiveQuery<Item>) async {
        await withCheckedContinuation { continuation in
            withObservationTracking {
                _ = screen.rows
            } onChange: {
                continuation.resume()
            }
        }
    }

    static func show(_ title: String, on device: Device) async throws {
        let (rows, count) = try await device.store.read { transaction in
            (try transaction.objects(openItems), try transaction.sum(\.quantity, of: openItems))
        }
        let list = rows.map { "\($0.object.quantity) x \($0.object.name)" }.joined(separator: ", ")
        print("\(title): \(list) (\(count) things to buy)")
    }

    /// Takes the other device's name of the wine.
    static func settleConflicts(on device: Device) async throws {
        for record in try await device.list.conflicts() {
            for (id, conflict) in record.conflicts {
                print("Conflict at \(conflict.path)")
                let object = record.object
                try await device.store.write {
                    try device.list.resolve(id, about: object, .takeOther, in: $0)
                }
            }
        }
    }

    /// Uploads a photo to another cloud, and then the receipt that refers to it.
    static func uploadReceipt(from store: Store) async throws {
        let uploads = Pipeline().on(Upload.self) { upload, _ in
            print("Uploaded \(upload.file)")
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [uploads])
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        let commit = try await store.write { transaction in
            let photo = try transaction.enqueue(Upload(file: "photo.jpg"))
            try transaction.enqueue(Upload(file: "receipt.json"), after: [photo])
            return transaction.commit
        }
        try await queue.finish(through: commit)
    }
}
