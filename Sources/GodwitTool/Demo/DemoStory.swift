import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitServer
import GodwitStore
import GodwitTree

/// Three devices, one list, no network, and a kill: the main job, told step by step.
final class DemoStory {
    private let folder: URL
    private let server: String
    private let transport: HTTPTransport
    private let replica: ReplicaName
    private let traffic: [String: Traffic]
    private var step = 0
    private var edits = 0

    private static let names = ["phone", "tablet", "laptop"]

    init(folder: URL, server: String) throws {
        self.folder = folder
        self.server = server
        transport = try HTTPTransport(server: server)
        replica = ReplicaName("shopping")
        traffic = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Traffic()) })
    }

    /// Tells the story, and fails unless it ends well.
    func tell() async throws {
        try await beginTogether()
        try await editOffline()
        try await killThePhone()
        try await comeBackOnline()
        try await concludeWithTable()
    }
}

// MARK: - The chapters

extension DemoStory {
    private func beginTogether() async throws {
        try say("The phone makes a list; tablet and laptop follow by push.")
        try await transport.create(replica)
        try await online(Self.names) { devices in
            let phone = devices[0]
            let commit = try await phone.store.write { transaction in
                try transaction.setValue(ShoppingList.first, of: ShoppingList.object)
                return transaction.commit
            }
            edits += 1
            try await phone.connector.pushed(through: commit)
        }
        try await show()
    }

    private func editOffline() async throws {
        try say("All three go offline, and all three edit.")
        try await edit("phone", [.cross("Bread"), .move("Eggs", to: 0), .add("Wine")])
        try await edit(
            "tablet",
            [.rename("Eggs", to: "Quail eggs"), .remove("Milk"), .add("Cheese")]
        )
        try await edit("laptop", [.rename("Milk", to: "Oat milk"), .call("Weekend")])
        try await show()
    }

    private func killThePhone() async throws {
        try say("The phone pushes, and is killed (SIGKILL) before it can read the answer.")
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "demo-device", "--store", path("phone"), "--server", server, "--replica", replica.text,
        ]
        process.standardOutput = output
        try process.run()
        let word = output.fileHandleForReading.availableData
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard String(decoding: word, as: UTF8.self).hasPrefix("sent") else {
            throw ToolError("the phone ended before it had sent its push")
        }
        let summary = try await transport.fetch("", of: replica)
        try Terminal.print(
            "  The server has the phone's batch (head \(summary["head"]?.text?.prefix(8) ?? "?"));"
                + " the phone does not know."
        )
    }

    private func comeBackOnline() async throws {
        try say("The phone starts again and sends the same batch: answered, not applied twice.")
        try say("Tablet and laptop come online too; the server merges.")
        try await online(Self.names) { _ in }
        try await show()
    }

    private func concludeWithTable() async throws {
        let summary = try await transport.fetch("", of: replica)
        let server = try await transport.fetch("/value", of: replica)
        var ids: Set<String> = [summary["head"]?.text ?? "?"]
        for name in Self.names {
            let device = try await device(name)
            ids.insert(try await device.replica.status().base.id.description)
            guard try await device.allDocuments() == server[Device.documents] else {
                throw ToolError("\(name) has another value")
            }
            try device.store.close()
        }
        guard ids.count == 1, let id = ids.first else {
            throw ToolError("the devices ended apart: \(ids.sorted())")
        }
        let items = server[Device.documents]?[ShoppingList.key]?["items"]?.list ?? []
        guard Set(items).count == items.count else { throw ToolError("an edit was applied twice") }
        let states = Int(summary["states"]?.integer ?? 0)
        let statesMax = ReplicaSummary.stateCountMax(clientCount: Self.names.count)
        guard states <= statesMax else {
            throw ToolError("\(states) states are kept")
        }
        let sent = traffic.values.reduce(0) { $0 + $1.totalSizeInBytes }
        try Terminal.print("\nAll agree, nothing is lost, nothing is there twice.\n")
        try Terminal.print(
            Terminal.table([
                ["edits", "\(edits)"],
                ["bytes sent by the devices", "\(sent)"],
                [
                    "states kept by the server", "\(states)",
                    "of at most \(statesMax)",
                ],
                ["the id that all share", id],
            ])
        )
    }
}

// MARK: - Devices

extension DemoStory {
    private func path(_ name: String) -> String {
        folder.appending(path: "\(name).sqlite").path
    }

    private func device(_ name: String) async throws -> Device {
        try await Device(
            path: path(name),
            replica: replica,
            transport: transport,
            traffic: traffic[name] ?? Traffic()
        )
    }

    /// Brings devices online, and lets them go when all have the server's head.
    private func online(
        _ names: [String],
        _ body: ([Device]) async throws -> Void
    ) async throws {
        var devices: [Device] = []
        for name in names { devices.append(try await device(name)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices { group.addTask { try await device.connector.run() } }
            try await body(devices)
            try await settle(devices)
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        for device in devices { try device.store.close() }
    }

    /// Waits until no device has anything left to send, and all have the server's head.
    private func settle(_ devices: [Device]) async throws {
        for device in devices {
            let last = try await device.store.read { $0.lastCommit }
            try await device.connector.pushed(through: last)
        }
        let summary = try await transport.fetch("", of: replica)
        guard let bytes = [UInt8](hex: summary["head"]?.text ?? ""),
            let head = StateID(bytes: bytes)
        else { throw ToolError("the server named no head") }
        for device in devices {
            try await within(.seconds(30)) { try await device.reach(head) }
        }
    }

    /// Makes edits on a device that is offline: one commit each.
    private func edit(_ name: String, _ changes: [ShoppingList.Edit]) async throws {
        let device = try await device(name)
        for change in changes {
            try await device.store.write { transaction in
                let list = try transaction.value(of: ShoppingList.object) ?? .null
                try transaction.setValue(change.applied(to: list), of: ShoppingList.object)
            }
            edits += 1
        }
        try device.store.close()
        try Terminal.print("  The \(name) \(changes.map(\.sentence).joined(separator: ", ")).")
    }

    // MARK: Telling

    private func say(_ sentence: String) throws {
        step += 1
        try Terminal.print("\n\(step). \(sentence)")
    }

    /// Shows the lists of all devices side by side.
    private func show() async throws {
        var columns: [[String]] = []
        for name in Self.names {
            let device = try await device(name)
            columns.append([name] + ShoppingList.view(try await device.document(ShoppingList.key)))
            try device.store.close()
        }
        let height = columns.map(\.count).max() ?? 0
        let rows = (0..<height).map { row in columns.map { row < $0.count ? $0[row] : "" } }
        try Terminal.print("\n" + Terminal.table(rows))
    }
}
