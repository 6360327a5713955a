import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Clients that are no Godwit devices, and exchange in JSON.
@Suite struct JSONExchangeTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    /// A client as a page in a browser is one: it keeps what the server has told it.
    struct Client {
        let id = ClientID(Identifiers.random.next())
        var nonce: Int64 = 0
        var state = Value.null
        var sequence: Int64 = 0
        var objects: [String: Value] = [:]

        mutating func request(_ changes: [Value]? = nil, name: Int64 = 7) -> Value {
            nonce += 1
            let batch: Value? = changes.map {
                [
                    "sequence": .int(sequence + 1), "name": .int(name),
                    "changes": .list(Value.List($0)),
                ]
            }
            return ["nonce": .int(nonce), "state": state, "batch": batch ?? .null]
        }

        /// - Returns: What the server has refused.
        @discardableResult
        mutating func receive(_ answer: Value) -> [Value] {
            state = answer["state"] ?? .null
            sequence = answer["outcome"]?["sequence"]?.integer ?? 0
            for change in answer["changes"]?.list ?? [] {
                objects[change["key"]?.text ?? ""] = change["value"]
            }
            return (answer["outcome"]?["rejected"]?.list).map(Array.init) ?? []
        }
    }

    private func ask(_ request: Value, _ client: Client) async throws -> Value {
        try await network.server.answer(
            json: Array(request.jsonText().utf8),
            from: client.id,
            of: name
        )
    }

    /// An exchange of which the answer arrives.
    @discardableResult
    private func exchange(_ client: inout Client, _ changes: [Value]? = nil) async throws -> Value {
        let answer = try await ask(client.request(changes), client)
        client.receive(answer)
        return answer
    }

    private func change(_ key: String, _ form: Key, _ content: Value) -> Value {
        .map(["collection": "cards", "key": .string(Key(key)), form: content])
    }

    /// The word for why the server refuses; nil where it does not.
    private static func code(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ReplicationError)?.code ?? "\(error)"
        }
    }

    // MARK: What travels

    @Test func `a client gets all objects first, and then those that are new`() async throws {
        let device = try await device()
        for number in 1...3 { try await device.set(number, number) }
        try await device.synchronize()
        var page = Client()
        let first = try await exchange(&page)
        #expect(first["status"] == "ok" && first["changes"]?.list?.count == 3)
        #expect(page.objects["c2"] == ["id": 2])
        let second = try await exchange(&page)
        #expect(second["status"] == "ok" && second["changes"] == [])
        try await device.set(2, 20)
        try await device.store.write { [cards] in try $0.remove("c1", in: cards) }
        try await device.synchronize()
        let third = try await exchange(&page)
        let changes: Value = [
            ["collection": "cards", "key": "c1", "removed": true],
            ["collection": "cards", "key": "c2", "version": 1, "value": ["id": 20]],
        ]
        #expect(third["changes"] == changes)
    }

    @Test func `each form of a change reaches a device`() async throws {
        let device = try await device()
        var page = Client()
        let old: Value = ["name": "Wine", "tags": ["red"], "shop": "corner"]
        let keys = ["value", "merge", "patch", "removed"]
        try await exchange(&page, keys.map { change($0, "value", old) })
        let answer = try await exchange(
            &page,
            [
                change("value", "value", ["name": "Rye"]),
                change("merge", "merge", ["name": "Port", "shop": .null]),
                change(
                    "patch",
                    "patch",
                    [
                        ["op": "add", "path": "/tags/0", "value": "sweet"],
                        ["op": "test", "path": "/shop", "value": "corner"],
                    ]
                ),
                change("removed", "removed", true),
                change("new", "merge", ["name": "Bread", "shop": .null]),
            ]
        )
        #expect(answer["status"] == "accepted")
        try await device.synchronize()
        let found: [String: Value] = [
            "value": ["name": "Rye"],
            "merge": ["name": "Port", "tags": ["red"]],
            "patch": ["name": "Wine", "tags": ["sweet", "red"], "shop": "corner"],
            "new": ["name": "Bread"],
        ]
        for key in keys + ["new"] { #expect(try await value(key, on: device) == found[key]) }
        #expect(page.objects == found)
    }

    @Test func `what a page and a device change at the same time is merged`() async throws {
        let device = try await device()
        var page = Client()
        try await exchange(
            &page,
            [change("a", "value", ["name": "Wine", "count": 1, "note": "dry"])]
        )
        try await device.synchronize()
        try await device.store.write { [cards] in
            try $0.editValue(of: "a", in: cards) { $0.count += 4 }
        }
        try await device.synchronize()
        let answer = try await exchange(&page, [change("a", "merge", ["name": "Port"])])
        let both: Value = ["name": "Port", "count": 5, "note": "dry"]
        #expect(answer["status"] == "accepted" && page.objects["a"] == both)
        try await device.synchronize()
        #expect(try await value("a", on: device) == both)
    }

    @Test func `bytes stay bytes, and the version of a type stays`() async throws {
        let device = try await device()
        let typed = Store.Collection<Value>("cards", version: 3) { value, _ in value }
        try await device.store.write { transaction in
            try transaction.set(["picture": .bytes([1, 2]), "n": 1], for: "a", in: typed)
        }
        try await device.synchronize()
        var page = Client()
        let answer = try await exchange(&page)
        let change = try #require(answer["changes"]?.list?.first)
        #expect(change["version"] == 3)
        #expect(change["value"] == ["picture": ["$bytes": "AQI="], "n": 1])
        try await exchange(&page, [self.change("a", "merge", ["n": 2])])
        try await device.synchronize()
        let found = try await device.store.read { try $0.get("a", in: typed) }
        #expect(found == ["picture": .bytes([1, 2]), "n": 2])
    }

    // MARK: What is lost

    @Test func `a batch whose answer was lost counts once`() async throws {
        let device = try await device()
        var page = Client()
        try await exchange(&page, [change("a", "value", ["tags": ["x"]])])
        let add: Value = [["op": "add", "path": "/tags/-", "value": "y"]]
        let batch = [change("a", "patch", add)]
        let lost = try await ask(page.request(batch), page)
        #expect(lost["status"] == "accepted")
        try await device.synchronize()
        try await device.store.write { [cards] in
            try $0.editValue(of: "a", in: cards) { $0.tags.list.append("z") }
        }
        try await device.synchronize()
        let again = try await exchange(&page, batch)
        #expect(again["status"] == "ok" && again["outcome"]?["sequence"] == 2)
        #expect(page.objects["a"] == ["tags": ["x", "y", "z"]])
    }

    @Test func `a copy of a request that arrives late does nothing`() async throws {
        var page = Client()
        let late = page.request([change("a", "value", 1)])
        try await exchange(&page, [change("a", "value", 2)])
        let answer = try await ask(late, page)
        #expect(answer["status"] == "stale" && answer["changes"] == [])
        try await exchange(&page)
        #expect(page.objects["a"] == 2)
    }

    @Test func `a client whose state the server does not have begins anew`() async throws {
        var page = Client()
        try await exchange(&page, [change("a", "value", 1)])
        _ = try await network.server.forget(page.id, of: name)
        let device = try await device()
        for number in 1...3 {
            try await device.set(1, number)
            try await device.synchronize()
        }
        let answer = try await exchange(&page, [change("b", "value", 2)])
        #expect(answer["status"] == "unknownState" && answer["state"] == .null)
        try await exchange(&page)
        #expect(page.objects["a"] == 1 && page.objects["c1"] == ["id": 3])
        let accepted = try await exchange(&page, [change("b", "value", 2)])
        #expect(accepted["status"] == "accepted")
    }

    @Test func `an object that is too large is refused by name, and nothing of its batch is taken`()
        async throws
    {
        var options = ReplicaServer.Options()
        options.objectSizeMax = 100
        let small = try await SimulatedNetwork(store: Store(.memory), options: options)
        try await small.create(name)
        var page = Client()
        let text = Value.string(Key(String(repeating: "x", count: 200)))
        let request = page.request([change("a", "value", text), change("b", "value", 1)])
        let answer = try await small.server.answer(
            json: Array(request.jsonText().utf8),
            from: page.id,
            of: name
        )
        let refused = page.receive(answer)
        #expect(refused == [["collection": "cards", "key": "a", "reason": "tooLarge"]])
        #expect(try await small.server.head(of: name) == .root)
    }

    @Test
    func `a replica with more objects than one answer takes is refused, and not sent in part`()
        async throws
    {
        var options = ReplicaServer.Options()
        options.changedMax = 2
        let network = try await SimulatedNetwork(store: Store(.memory), options: options)
        try await network.create(name)
        let device = try await CardDevice(Store(.memory), name, network)
        for number in 1...3 { try await device.set(number, number) }
        try await device.synchronize()
        var page = Client()
        let request = Array(page.request().jsonText().utf8)
        let code = await Self.code {
            _ = try await network.server.answer(json: request, from: page.id, of: name)
        }
        #expect(code == "overBudget")
    }

    // MARK: What is refused

    @Test(
        arguments: [
            #"[]"#, #"{"#, #"{"nonce": 0}"#, #"{"nonce": 1.5}"#, #"{"nonce": "1"}"#, #"{}"#,
            #"{"nonce": 1, "extra": 1}"#, #"{"nonce": 1, "state": {"serial": 1}}"#,
            #"{"nonce": 1, "state": {"serial": -1, "token": "0000000000"}}"#,
            #"{"nonce": 1, "state": {"serial": 1, "token": "00"}}"#,
            #"{"nonce": 1, "batch": {"sequence": 1, "name": 1}}"#,
            #"{"nonce": 1, "batch": {"sequence": 1, "name": 4294967296, "changes": []}}"#,
            #"{"nonce": 1, "batch": {"sequence": 1, "name": 1, "changes": [1]}}"#,
            #"{"nonce": 1, "batch": {"sequence": 1, "name": 1, "changes": [{"key": "a", "value": 1}]}}"#,
            changes(#"{"collection": "cards", "key": "a"}"#),
            changes(#"{"collection": "cards", "key": "a", "value": 1, "merge": {}}"#),
            changes(#"{"collection": "cards", "key": "a", "removed": false}"#),
            changes(#"{"collection": "cards", "key": "a", "value": 1, "version": 0}"#),
            changes(
                #"{"collection": "cards", "key": "a", "value": 1}"#,
                #"{"collection": "cards", "key": "a", "value": 2}"#
            ),
        ]
    )
    func `a request that is not of the form is refused, and changes nothing`(
        _ text: String
    ) async throws {
        let code = await Self.code {
            _ = try await network.server.answer(json: Array(text.utf8), from: Client().id, of: name)
        }
        #expect(code == "malformedMessage")
        #expect(try await network.server.head(of: name) == .root)
    }

    private static func changes(_ changes: String...) -> String {
        """
        {"nonce": 1, "batch": {"sequence": 1, "name": 1, "changes": [\(changes.joined(separator: ","))]}}
        """
    }

    @Test(
        arguments: [
            #"[{"op": "test", "path": "/a", "value": 2}]"#, #"[{"op": "remove", "path": "/b"}]"#,
            #"[{"op": "jump", "path": "/a"}]"#, #"{"a": 1}"#,
        ]
    )
    func `a patch that does not fit its object is refused, and its number is free`(
        _ patch: String
    ) async throws {
        var page = Client()
        try await exchange(&page, [change("a", "value", ["a": 1])])
        let head = try await network.server.head(of: name)
        let refused = page.request([change("a", "patch", try Value(json: patch))])
        let code = await Self.code { _ = try await ask(refused, page) }
        #expect(code == "invalidDelta" || code == "malformedMessage")
        #expect(try await network.server.head(of: name) == head)
        let answer = try await exchange(&page, [change("a", "merge", ["a": 2])])
        #expect(answer["status"] == "accepted")
    }

    /// A copy of the whole object in a field of its own doubles it.
    @Test func `a few bytes of patches do not make objects without end`() async throws {
        var page = Client()
        let keys = (0..<40).map { "k\($0)" }
        let text = Value.string(Key(String(repeating: "x", count: 4_000)))
        try await exchange(&page, keys.map { change($0, "value", ["text": text]) })
        let head = try await network.server.head(of: name)
        let copies = (1...8).map { number -> Value in
            ["op": "copy", "from": "", "path": .string(Key("/k\(number)"))]
        }
        let patch = Value.list(Value.List(copies))
        let request = page.request(keys.map { change($0, "patch", patch) })
        let code = await Self.code { _ = try await ask(request, page) }
        #expect(code == "overBudget")
        #expect(try await network.server.head(of: name) == head)
        // One object of 1 MB is not too many.
        #expect(try await exchange(&page, [change("k0", "patch", patch)])["status"] == "accepted")
    }

    @Test func `a place that is deeper than any value is refused before it is read`() async throws {
        var page = Client()
        try await exchange(&page, [change("a", "value", ["a": 1])])
        for count in [Value.depthMax, Value.depthMax + 1] {
            let path = Value.string(Key(String(repeating: "/a", count: count)))
            let patch: Value = [["op": "test", "path": path, "value": 1]]
            let request = page.request([change("a", "patch", patch)])
            let code = await Self.code { _ = try await ask(request, page) }
            #expect(code == (count > Value.depthMax ? "malformedMessage" : "invalidDelta"))
        }
    }

    /// JavaScript writes numbers up to 10²¹ without an exponent.
    @Test func `what a device stores can be sent back as a browser writes it`() async throws {
        let device = try await device()
        var deep: Value = ["n": .double(1e20)]
        while deep.isNested(within: WriteTransaction.objectDepthMax - 1) { deep = [deep] }
        let stored = deep
        try await device.store.write { [cards] in try $0.set(stored, for: "a", in: cards) }
        try await device.synchronize()
        var page = Client()
        try await exchange(&page)
        #expect(page.objects["a"] == deep)
        let change = change("b", "value", deep).jsonText()
        let text = """
            {"nonce": 9, "state": \(page.state.jsonText()), "batch": {"sequence": 1, "name": 1, "changes": [
            \(change.replacing(/1e\+?20/, with: "100000000000000000000"))]}}
            """
        let answer = try await network.server.answer(
            json: Array(text.utf8),
            from: page.id,
            of: name
        )
        #expect(answer["status"] == "accepted")
        try await device.synchronize()
        #expect(try await value("b", on: device) == deep)
    }

    @Test func `a client that may only read pulls, and brings nothing`() async throws {
        var page = Client()
        let pull = Array(page.request().jsonText().utf8)
        let answer = try await network.server.answer(json: pull, from: page.id, of: name) { _ in
            .read
        }
        #expect(answer["status"] == "ok")
        let push = Array(page.request([change("a", "value", 1)]).jsonText().utf8)
        let code = await Self.code {
            _ = try await network.server.answer(json: push, from: page.id, of: name) { _ in .read }
        }
        #expect(code == "readOnly")
    }
}
