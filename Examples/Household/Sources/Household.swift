import Foundation
import Godwit
import GodwitServer
import Observation

// One household, two devices, and a server of their own.
//
// The phone has used the first version of the app: its items are upgraded. Both devices edit the list while
// they are offline, agree on it afterwards, and settle what they disagree on. The phone also uploads a
// receipt to a cloud of another kind, after the photo that the receipt refers to.

@main struct Household {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "household-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = SyncServer(store: try Store(.memory), port: 0) { port.yield($0) }
        let serving = Task { try await server.run() }
        defer { serving.cancel() }
        guard let port = await ports.first(where: { _ in true }) else { return }
        let transport = try HTTPTransport(server: "http://127.0.0.1:\(port)")
        try await transport.create(ReplicaName("household"))

        // The first version of the app was here, and was never online.
        let path = folder.appending(path: "phone.sqlite").path
        let old = try Store(.file(path))
        try await old.write { transaction in
            for (id, name, done) in [
                ("m", "Milk", false), ("w", "Wine", false), ("e", "Eggs", true),
            ] {
                try transaction.set(ItemV1(id: id, name: name, done: done), in: firstItems)
            }
        }
        try old.close()

        let phone = try await Device(path, transport)
        let tablet = try await Device(folder.appending(path: "tablet.sqlite").path, transport)
        try await phone.connector.synchronize(phone.list.name)
        try await tablet.connector.synchronize(tablet.list.name)
        try await show("The tablet has what the phone had", on: tablet)

        // Both are offline.
        try await phone.edit("m") { $0.quantity += 2 }
        try await tablet.edit("m") { $0.quantity += 1 }
        try await phone.edit("w") { $0.name = "Red wine" }
        try await tablet.edit("w") { $0.name = "White wine" }
        try await tablet.edit("e") { $0.isCrossed = false }

        // A screen follows the phone's store while the tablet's edits come in.
        let screen = await LiveQuery(openItems, in: phone.store)
        for device in [tablet, phone, tablet] {
            try await device.connector.synchronize(device.list.name)
        }
        let names = Observations { @MainActor in screen.rows.map(\.object.name) }
        for await names in names where names.contains("Eggs") { break }
        try await show("Both have added milk: 1 + 2 + 1", on: phone)
        try await settle(on: phone)
        for device in [phone, tablet] { try await device.connector.synchronize(device.list.name) }
        try await show("Settled, on the tablet too", on: tablet)

        let uploads = try await uploadReceipt(from: phone.store)
        print("Uploaded, in this order: \(uploads.joined(separator: ", "))")
    }

    static func show(_ title: String, on device: Device) async throws {
        let (rows, count) = try await device.store.read { transaction in
            (try transaction.objects(openItems), try transaction.sum(\.quantity, of: openItems))
        }
        let list = rows.map { "\($0.object.quantity) x \($0.object.name)" }
        print("\(title): \(list.joined(separator: ", ")) (\(count) things to buy)")
    }

    /// Takes the other device's name of the wine.
    static func settle(on device: Device) async throws {
        for record in try await device.list.conflicts() {
            for (id, conflict) in record.conflicts {
                print("Conflict at \(conflict.path): \(conflict.reason)")
                try await device.store.write {
                    try device.list.settle(id, about: record.object, .takeOther, in: $0)
                }
            }
        }
    }

    /// Uploads the photo, and then the receipt that refers to it.
    static func uploadReceipt(from store: Store) async throws -> [String] {
        let cloud = Cloud()
        let uploads = Pipeline()
            .on(UploadPhoto.self) { upload, _ in
                await cloud.put("photos/\(upload.photo).jpg")
                return .completed
            }
            .on(UploadReceipt.self) { upload, _ in
                await cloud.put("receipts/\(upload.receipt).json")
                return .completed
            }
        let queue = try PushQueue(store, pipelines: [uploads])
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        let commit = try await store.write { transaction in
            try transaction.set(Receipt(id: "r1", photo: "p1", cents: 1_250), in: receipts)
            let photo = try transaction.enqueue(UploadPhoto(photo: "p1"))
            try transaction.enqueue(UploadReceipt(receipt: "r1"), after: [photo])
            return transaction.commit
        }
        try await queue.finish(through: commit)
        return await cloud.files
    }
}

/// A device of the household: a store, and a replica of the list.
struct Device: Sendable {
    let store: Store
    let connector: ReplicaConnector
    let list: Replica

    init(_ path: String, _ transport: any ReplicaTransport) async throws {
        var options = Store.Options()
        let open = Store.Index("open", on: Field(\Item.isCrossed), Field(\Item.name))
        options.collections = [CollectionRules(items, indexes: [open])]
        store = try Store(.file(path), options: options)
        connector = try ReplicaConnector(store, transport: transport)
        list = try await connector.open(ReplicaName("household"), collections: ["items"])
    }

    /// Changes an item, and records how.
    func edit(
        _ id: String,
        _ body: @escaping @Sendable (inout ObjectDraft<Item>) -> Void
    ) async throws {
        try await store.write { try $0.edit(id, in: items, body) }
    }
}

/// A cloud that takes files; it stands for any HTTP API.
actor Cloud {
    private(set) var files: [String] = []
    func put(_ file: String) { files.append(file) }
}
