import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit replica`, called as a person would call it.
@Suite struct ReplicaCommandTests {
    let folder: TemporaryFolder
    let name: ReplicaName
    let cards = Store.Collection<Value>("cards")

    init() throws {
        folder = try TemporaryFolder()
        name = ReplicaName("shopping")
    }

    private var server: String { folder.path("server.sqlite") }
    private var phone: String { folder.path("phone.sqlite") }

    private func run(_ arguments: String...) throws -> Godwit.Result {
        try Godwit.run(["replica"] + arguments)
    }

    /// Two devices that have both renamed one card, and a server.
    private func prepare() async throws {
        let store = try Store(.file(server))
        let network = try await SimulatedNetwork(store: store)
        try await network.create(name)
        var devices: [(Store, ReplicaConnector)] = []
        for path in [phone, folder.path("tablet.sqlite")] {
            let store = try Store(.file(path))
            let connector = try ReplicaConnector(store, transport: network)
            _ = try await connector.open(name, collections: ["cards"])
            devices.append((store, connector))
        }
        try await devices[0].0.write { [cards] in try $0.set(["id": 1], for: "a", in: cards) }
        for (_, connector) in devices { try await connector.synchronize(name) }
        for (number, device) in devices.enumerated() {
            try await device.0.write { [cards] in
                try $0.set(["id": .int(Int64(number + 2))], for: "a", in: cards)
            }
        }
        for (_, connector) in devices + devices { try await connector.synchronize(name) }
        for (device, _) in devices { try device.close() }
        try store.close()
    }

    @Test func `replicas are listed, verified and exported`() async throws {
        try await prepare()
        let list = try run("ls", server)
        #expect(list.status == 0 && list.output.contains("shopping  server  at #"))
        let all = try Value(json: run("ls", phone, "--json").output)
        #expect(all.list?.first?["role"] == "device")
        #expect(all.list?.first?["pendingObjects"] == 0)

        for store in [server, phone] {
            #expect(try run("verify", store).output == "2 objects, 0 problems\n")
            let objects = try Value(json: run("export", store).output)
            #expect(objects["cards"]?["a"]?["id"] == 3)
        }
        let unknown = try run("verify", server, "--name", "other")
        #expect(unknown.status == 1 && unknown.errors.contains("no replica \"other\""))
    }

    @Test func `conflicts are listed, what was kept first`() async throws {
        try await prepare()
        #expect(try run("conflicts", phone).output == "cards/a/id: kept 3, not 2 (bothSet)\n")
        let records = try Value(json: run("conflicts", phone, "--json").output)
        #expect(records.list?.first?["conflicts"]?.list?.first?["base"] == 1)
    }

    @Test func `a conflict is settled, and the decision is pending`() async throws {
        try await prepare()
        #expect(try run("resolve", phone, "cards", "b").status == 1)
        #expect(try run("resolve", phone, "cards", "a", "--put", "5", "--take-other").status == 64)
        #expect(try run("resolve", phone, "cards", "a", "--take-other").status == 0)
        #expect(try run("conflicts", phone).output == "no conflicts\n")
        let status = try Value(json: run("status", phone, "--json").output)
        #expect(status["pending"] == 2 && status["conflicts"] == 0)

        let difference = try run("diff", server, phone)
        #expect(difference.status == 2)
        #expect(difference.output.contains("~ cards/a\n~ /id  3 → 2"))
        let objects = try Value(json: run("diff", server, phone, "--json").output)
        #expect(objects.list?.first?["second"] == ["id": 2])
        #expect(try run("diff", server, folder.path("tablet.sqlite")).output == "no differences\n")
    }

    @Test func `a replica's standing is shown, of a device and of a server`() async throws {
        try await prepare()
        let device = try Value(json: run("status", phone, "--json").output)
        #expect(device["role"] == "device" && device["pending"] == 0)
        #expect(device["conflicts"] == 1 && device["refusedByServer"] == [])
        #expect(device["refusedByApp"] == [])
        let server = try Value(json: run("status", server, "--json").output)
        #expect(server["objects"] == 2 && server["clients"] == 2 && server["forgotten"] == 0)
        #expect(server["state"] == device["state"])
        #expect(try run("status", phone).output.hasPrefix("shopping, device\n"))

        let store = try Store(.file(phone))
        _ = try await Replica.open(ReplicaName("other"), in: store, collections: ["notes"])
        try store.close()
        let other = try Value(json: run("status", phone, "--name", "other", "--json").output)
        #expect(other["conflicts"] == 0 && other["pending"] == 0)
    }

    @Test func `the client that has changed an object last is listed`() async throws {
        try await prepare()
        let objects = try Value(json: run("blame", server, "--json").output).list ?? []
        #expect(objects.map { $0["key"] } == ["a"], "records of conflicts are left out")
        let clients = try Value(json: run("clients", server, "--json").output).list ?? []
        #expect(clients.map { $0["client"] }.contains(objects.first?["client"]))
        #expect(objects.allSatisfy { $0["date"]?.text?.hasSuffix("Z") == true })
        #expect(try run("blame", server).output.hasPrefix("  cards/a"))
        let none = try run("blame", server, "--collection", "notes").output
        #expect(none == "no object's last change is known\n")
    }

    @Test func `what is exported is imported, on a server and on a device`() async throws {
        try await prepare()
        let store = try Store(.file(phone))
        try await store.write { [cards] transaction in
            try transaction.setValue(["bytes": .bytes([1, 2])], version: 3, of: cards.place("v"))
        }
        try store.close()
        let file = folder.path("export.json")
        try run("export", phone).output.write(toFile: file, atomically: true, encoding: .utf8)

        let copy = folder.path("copy.sqlite")
        #expect(try run("import", copy, file, "--name", "again").output == "2 objects imported\n")
        let status = try Value(json: run("status", copy, "--json").output)
        #expect(status["objects"] == 2 && status["clients"] == 1)
        #expect(try run("verify", copy).output == "2 objects, 0 problems\n")
        let audit = try await ReplicaAudit("again", .server, in: Store(.file(copy)))
        #expect(audit.objects[cards.place("v")]?.version == 3)
        #expect(audit.objects[cards.place("v")]?.value == ["bytes": .bytes([1, 2])])

        let tablet = folder.path("tablet.sqlite")
        #expect(try run("import", tablet, file).output == "2 objects imported\n")
        #expect(try Value(json: run("status", tablet, "--json").output)["pending"] == 1)
        let mistyped = try run("import", tablet, file, "--name", "shoping")
        #expect(mistyped.status == 1 && mistyped.errors.contains("a device's store, with shopping"))
        #expect(try Value(json: run("ls", tablet, "--json").output).list?.count == 1)
        let missing = folder.path("missing.sqlite")
        #expect(try run("import", missing, file).status == 1)
        #expect(!FileManager.default.fileExists(atPath: missing))
        try #"{"notes": {"n": 1}}"#.write(toFile: file, atomically: true, encoding: .utf8)
        let strange = try run("import", tablet, file)
        #expect(strange.status == 1 && strange.errors.contains("not in the replica: notes"))
    }

    @Test func `clients are listed and forgotten`() async throws {
        try await prepare()
        let clients = try Value(json: run("clients", server, "--json").output).list ?? []
        #expect(clients.count == 2 && clients.allSatisfy { $0["isForgotten"] == false })
        let id = try #require(clients.first?["client"]?.text)
        #expect(try run("forget", server).status == 64, "whom?")
        #expect(try run("forget", server, "--client", "no id").status == 1)
        #expect(try run("forget", server, "--client", id).output == "1 clients forgotten\n")
        #expect(try run("clients", server).output.contains("forgotten"))
        #expect(try run("forget", server, "--silent-for", "1").output == "0 clients forgotten\n")
        let device = try run("clients", phone)
        #expect(device.status == 1 && device.errors.contains("a device's store"))
    }
}
