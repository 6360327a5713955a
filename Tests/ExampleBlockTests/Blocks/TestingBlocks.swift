// swift-format-ignore-file
// Scripts/example-blocks has written this.

import Foundation
import GRDB
import Godwit
import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitServer
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Observation
import Testing

// Documentation/testing.md, block 1
enum Documentation_testing_1 {
    struct Device {
        let store: Store
        let connector: ReplicaConnector
        let list: Replica

        init(_ network: SimulatedNetwork) async throws {
            store = try Store(.memory)
            connector = try ReplicaConnector(store, transport: network)
            list = try await connector.open("shopping", collections: items)
        }

        func add(_ name: String) async throws {
            try await store.write { try $0.set(Item(id: name, name: name), in: items) }
        }
        func synchronize() async throws { try await connector.synchronize(list.name) }
        func names() async throws -> [String] { try await store.read { try $0.keys(in: items) } }
    }
    struct SharedListTests {
        let network: SimulatedNetwork
        let phone: Device
        let tablet: Device

        init() async throws {
            network = try await SimulatedNetwork(store: Store(.memory))
            try await network.create("shopping")
            (phone, tablet) = (try await Device(network), try await Device(network))
        }

        @Test func `both devices have what they have added offline`() async throws {
            network.isOnline = false
            try await phone.add("Bread")
            try await tablet.add("Wine")
            await #expect(throws: ConnectorError.self) { try await phone.synchronize() }
            network.isOnline = true
            for device in [phone, tablet, phone] { try await device.synchronize() }
            #expect(try await phone.names() == ["Bread", "Wine"])
            #expect(try await tablet.names() == ["Bread", "Wine"])
        }

        @Test func `an item is there once although the answer was lost`() async throws {
            try await phone.add("Bread")
            network.deliver { number in number == 0 ? .loseAnswer : .arrives }
            await #expect(throws: ConnectorError.self) { try await phone.synchronize() }
            for device in [phone, tablet] { try await device.synchronize() }
            #expect(try await tablet.names() == ["Bread"])
        }

        @Test(arguments: 0..<20 as Range<UInt64>)
        func `both devices agree, whatever the network loses`(seed: UInt64) async throws {
            var random = Seeded(seed: seed)
            for number in 0..<30 {
                let device = random.happens(0.5) ? phone : tablet
                network.isOnline = random.happens(0.7)
                try await device.add("item \(number)")
                if random.happens(0.5) { try? await device.synchronize() }
            }
            network.isOnline = true
            for device in [phone, tablet, phone] { try await device.synchronize() }
            #expect(try await phone.names() == tablet.names())
        }
    }
}

// Documentation/testing.md, block 2
enum Documentation_testing_2 {
    struct UploadTests {
        @Test func `an upload that fails is tried again after the backoff`() async throws {
            let clock = ManualClock()
            var options = PushQueue.Options()
            options.clock = clock
            options.monitor = ConstantConditions()              // always online
            var pipeline = Pipeline().on(UploadContact.self) { _, run in
                run.operation.attempts == 0 ? .retry(reason: "503") : .completed
            }
            pipeline.backoff = Backoff(delayMin: .seconds(5), jitter: { 0 })
            let store = try Store(.memory)
            let queue = try PushQueue(store, options: options, pipelines: [pipeline])
            let running = Task { try await queue.run() }
            defer { running.cancel() }
            let upload = try await store.write { try $0.enqueue(UploadContact(contact: "robbie")) }
            #expect(await clock.nextDelay() == .seconds(5))
            clock.advance(by: .seconds(5))
            #expect(try await queue.result(of: upload) == .completed)
        }
    }
}

// Documentation/testing.md, block 3
enum Documentation_testing_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let clock = ManualClock()
        var options = Store.Options()
        options.clock = StoreClock(
            elapsed: { clock.now.sinceStart },
            now: { Date(timeIntervalSince1970: clock.now.sinceStart / .seconds(1)) }
        )
    }
}

// Documentation/testing.md, block 4
enum Documentation_testing_4 {
    struct PowerTests {
        @Test(arguments: 1...70)
        func `an acknowledged item survives a power failure`(cut: Int) async throws {
            let folder = try TemporaryFolder()                  // removed with its last reference
            let disk = SimulatedDisk(folder: folder)
            disk.cutPower(at: cut)
            var added: Set<String> = []
            do {
                let store = try Store(.file(folder.path("app.sqlite")))
                for name in ["Bread", "Milk", "Wine"] {
                    try await store.write { try $0.set(Item(id: name, name: name), in: items) }
                    added.insert(name)
                }
                try store.close()
            } catch {}                                          // the power is gone
            disk.restart(seed: UInt64(cut))
            let store = try Store(.file(folder.path("app.sqlite")))
            #expect(added.isSubset(of: try await store.read { try $0.keys(in: items) }))
            try store.close()
        }
    }
}

// Documentation/testing.md, block 5
enum Documentation_testing_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let list = LiveQuery(openItems, in: store)
        while list.rows.isEmpty { await Task.yield() }
    }
}
