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
import Observation

// README.md, block 1
enum README_1 {
    struct Item: Codable, Sendable {
        var name: String
        var crossed = false
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/tmp/shop.godwit"))
        let items = Store.Collection<Item>("items")
        let transport = try HTTPTransport(server: "http://127.0.0.1:7007")
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["items"])
        async let syncing: Void = connector.run()
        try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
        }
    }
}

// README.md, block 2
enum README_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for record in try await shopping.conflicts() {
            for id in record.conflicts.keys {
                try await store.write {
                    try shopping.settle(id, about: record.object, .takeOther, in: $0)
                }
            }
        }
    }
}

// README.md, block 3
enum README_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var policy = MergePolicy(version: 2)
        policy.set(.max, at: "/items/*/votes")
        policy.set(.whole, at: "/items/*/price")          // amount and currency are one value
        policy.identify(by: "sku", at: "/items/*/parts")
        let shopping = try await connector.open(
            ReplicaName("shopping"), collections: ["items"], policy: policy)
    }
}

// README.md, block 4
enum README_4 {
    struct Contact: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
        var isOnline = false
        var notes = ""
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let contacts = Store.Collection<Contact>("contacts")
        let byName = Index("byName", on: Field(\Contact.isOnline), Field(\Contact.name))
        let words = Index.fullText("words", on: Field(\Contact.name), Field(\Contact.notes))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [byName, words])]
        let store = try Store(.file(path), options: options)      // or .memory, or Store(adopting: pool)
        let robbie = Contact(name: "Robbie")
        try await store.write { try $0.set(robbie, in: contacts) }
        // Many small writes share a commit and a sync; each has its own result and its own failure.
        let ticket = try store.writeLater { try $0.update(robbie.id, in: contacts) { $0.isOnline = true } }
        // What is online, by name; read once, or whenever it changes. An index answers, where there is one.
        let online = contacts.where(\.isOnline, .equal(true)).order(by: \.name).limit(50)
        for try await rows in store.values(of: online) { show(rows) }
        // Full-text search, while a person types; the best match first, with what fits marked.
        let found = try await store.read { try $0.objects(contacts.matching("rob", by: words)) }
        // For a screen: rows that the main actor observes, each by itself.
        let live = LiveQuery(online, in: store)
        // A frozen picture for the screen, and a list in sections that knows which rows moved.
        let view = try await store.view()
        let list = try await view.list(
            contacts, grouped: { $0.isOnline ? "online" : "offline" }, sorted: { $0.name })
        try view.advance()
        animate(list.change)
    }
}

// README.md, block 5
enum README_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var list: Value = ["items": [["name": "Bread"], ["name": "Wine"]], "note": "for tonight"]
        let (base, isCrossed) = (list, true)
        let delta = try list.edit {
            $0.items[0].crossed = isCrossed      // any Bool, number, string, array, dictionary
            $0.items.list.move(from: 1, to: 0)
            $0.note.text.append(", or tomorrow")
        }
        delta.ednText()            // {:items {:= {0 {:crossed true}} :> {0 1}} :note #d/text …}
        try delta.packed(on: base) // a few bytes, for a peer that has the base
        let merge = Merge(base: base, ours: list, theirs: ["items": [["name": "Rye"]], "note": "for tonight"])
        merge.value                // everything that both meant
        merge.conflicts            // what could not stay as both meant it, and why it was decided so
    }
}

// README.md, block 6
enum README_6 {
    struct UploadContact: Godwit.Operation {
        static let kind = "upload-contact"
        let contact: String
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pipeline = Pipeline().on(UploadContact.self) { upload, run in
            let (contact, tag) = try await store.read { transaction in
                (
                    try transaction.get(upload.contact, in: contacts),
                    try transaction.tag(for: upload.contact)
                )
            }
            let newTag = try await cloud.put(contact, ifMatch: tag, key: run.operation.idempotencyKey)
            return .completed { try $0.setTag(newTag, for: upload.contact) }
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        async let running: Void = queue.run()
        try await store.write { transaction in
            try transaction.set(robbie, for: "robbie", in: contacts)
            try transaction.enqueue(UploadContact(contact: "robbie"))
        }
    }
}

// Documentation/queries.md, block 1
enum Documentation_queries_1 {
    struct Contact: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
        var city: String?
        var born: Date
        var isOnline = false
        var notes = ""
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let contacts = Store.Collection<Contact>("contacts")
    }
}

// Documentation/queries.md, block 2
enum Documentation_queries_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.where(\.isOnline, .equal(true))
        contacts.where(\.city, .oneOf(["Rome", "Oslo"])).where(\.name, .hasPrefix("Ro"))
        contacts.where(\.born, .between(spring..<summer))
        contacts.where(\.city, .equal(nil))
    }
}

// Documentation/queries.md, block 3
enum Documentation_queries_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let isNear = Filter<Contact>(\.city, .equal("Rome")) || Filter(\.city, .equal("Ostia"))
        contacts.where(isNear && !Filter(\.isOnline, .equal(false)))
    }
}

// Documentation/queries.md, block 4
enum Documentation_queries_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.order(by: \.city).order(by: \.born, .descending)      // by city, then the youngest first
        contacts.order(by: \.born, .descending).limit(20)
    }
}

// Documentation/queries.md, block 5
enum Documentation_queries_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rows = try await store.read { try $0.objects(query) }      // each with its key
        let count = try await store.read { try $0.count(query) }       // reads no object, if an index tells
        for try await rows in store.values(of: query) { show(rows) }   // now, and whenever they change
    }
}

// Documentation/queries.md, block 6
enum Documentation_queries_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let byCity = Index("byCity", on: Field(\Contact.city), Field(\Contact.name))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [byCity])]
    }
}

// Documentation/queries.md, block 7
enum Documentation_queries_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let words = Index.fullText("words", on: Field(\Contact.name), Field(\Contact.notes))
        let found = try await store.read { try $0.objects(contacts.matching("rob", by: words)) }
        for row in found { print(row.object.name, row.snippet.marked("[", "]")) }
    }
}

// Documentation/queries.md, block 8
enum Documentation_queries_8 {
    @MainActor @Observable final class Model {
        let online: LiveQuery<Contact>

        init(_ store: Store) {
            online = LiveQuery(contacts.where(\.isOnline, .equal(true)).order(by: \.name), in: store)
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        List(model.online.rows) { row in Text(row.object.name) }
    }
}

// Documentation/server-access.md, block 1
enum Documentation_server_access_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(
            server: "https://sync.example.com", token: key, rootCertificates: "/etc/ssl/own-root.pem")
    }
}

// Documentation/server-access.md, block 2
enum Documentation_server_access_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: key)
    }
}

// Documentation/server-access.md, block 3
enum Documentation_server_access_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.processes = .several
        let store = try Store(.file("/var/lib/godwit/server.sqlite"), options: options)
        try await SyncServer(store: store, host: "0.0.0.0", access: .keys).run()
    }
}

// Sources/GodwitConnectors/HTTP/HTTPTransport.swift, block 1
enum Sources_GodwitConnectors_HTTP_HTTPTransport_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: "…")
        try await transport.create(ReplicaName("shopping"))
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 1
enum Sources_GodwitConnectors_Sync_ReplicaConnector_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let connector = try ReplicaConnector(store, transport: HTTPTransport(server: address))
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["lists"])
        try await connector.run()
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 2
enum Sources_GodwitConnectors_Sync_ReplicaConnector_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = ReplicaConnector.Options()
        options.hasOwnQueue = false
        let connector = try ReplicaConnector(store, transport: transport, options: options)
        let queue = try PushQueue(store, pipelines: [uploads, connector.pipeline])
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 3
enum Sources_GodwitConnectors_Sync_ReplicaConnector_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await connector.leave(shopping.name, removingObjects: true)   // signs out
    }
}

// Sources/GodwitQueue/Effect/Effect.swift, block 1
enum Sources_GodwitQueue_Effect_Effect_1 {
    struct UploadContact: GodwitQueue.Operation {
        static let kind = "upload-contact"
        let contact: String
        var effect: Effect? { .write(contact, of: "contacts") }
    }
}

// Sources/GodwitQueue/Footprint/Footprint.swift, block 1
enum Sources_GodwitQueue_Footprint_Footprint_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var footprint: Footprint { .move("/foo", to: "/moo") }
    }
}

// Sources/GodwitQueue/Observation/CommitReceipt.swift, block 1
enum Sources_GodwitQueue_Observation_CommitReceipt_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let ticket = try store.writeLater { try edit($0) }
        if let commit = try await ticket.finish().commit {
            for try await receipt in queue.receipts(of: commit) { badge.show(receipt) }
        }
    }
}

// Sources/GodwitQueue/Observation/PushQueue+Receipts.swift, block 1
enum Sources_GodwitQueue_Observation_PushQueue_Receipts_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in queue.statuses(of: id) { label.text = "\(status)" }
    }
}

// Sources/GodwitQueue/Observation/PushQueue+Why.swift, block 1
enum Sources_GodwitQueue_Observation_PushQueue_Why_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        print(try await queue.why(id).joined(separator: "\n"))
        // 14.1 waits for 12.1
        // 12.1 is held by godwit.retry until 2026-11-21T16:05:00Z
    }
}

// Sources/GodwitQueue/Observation/QueueMonitor.swift, block 1
enum Sources_GodwitQueue_Observation_QueueMonitor_1 {
    @MainActor struct SyncBadge {
        let monitor: QueueMonitor
        var text: String { "\(monitor.summary.pending) to send" }
    }
}

// Sources/GodwitQueue/Operation/Dependency.swift, block 1
enum Sources_GodwitQueue_Operation_Dependency_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let customer = try transaction.enqueue(UploadCustomer(id: "7"))
        try transaction.enqueue(
            UploadOrder(id: "12"),
            Placement(dependencies: [.on(customer, otherwise: .skip)]))
    }
}

// Sources/GodwitQueue/Operation/Operation.swift, block 1
enum Sources_GodwitQueue_Operation_Operation_1 {
    struct UploadContact: GodwitQueue.Operation {
        static let kind = "upload-contact"
        let contact: String
        var objects: [ObjectKey] { [ObjectKey(collection: "contacts", key: Key(contact))] }
    }
}

// Sources/GodwitQueue/Pipeline/DependencyRule.swift, block 1
enum Sources_GodwitQueue_Pipeline_DependencyRule_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var pipeline = Pipeline(order: .flat)
        // Whatever is charged to one account is done in a row.
        pipeline.rules = [
            DependencyRule(for: Charge.self) { charge in .resource(charge.account) },
            // An avatar is there before the user who has it.
            DependencyRule(UploadAvatar.self, \.user, before: UploadUser.self, \.id),
        ]
    }
}

// Sources/GodwitQueue/Pipeline/Pipeline.swift, block 1
enum Sources_GodwitQueue_Pipeline_Pipeline_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pipeline = Pipeline(maxConcurrent: 4)
            .on(UploadContact.self) { upload, run in
                let tag = try await cloud.put(upload.contact, key: run.operation.idempotencyKey)
                return .completed { try $0.setTag(.string(Key(tag)), for: upload.contact) }
            }
    }
}

// Sources/GodwitQueue/Pipeline/Pipeline.swift, block 2
enum Sources_GodwitQueue_Pipeline_Pipeline_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        Pipeline(order: .flat, maxConcurrent: 100).onBatch(of: Upload.self, max: 100) { batch in
            let answers = try await cloud.putAll(batch.map(\.work))
            return answers.map { $0.isStored ? .completed : .retry(reason: $0.message) }
        }
    }
}

// Sources/GodwitQueue/Pipeline/Placement.swift, block 1
enum Sources_GodwitQueue_Pipeline_Placement_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.enqueue(UploadPhoto(id: "7"), Placement(pipeline: "photos", priority: -1))
    }
}

// Sources/GodwitQueue/Queue/PushQueue.swift, block 1
enum Sources_GodwitQueue_Queue_PushQueue_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let queue = try PushQueue(store, pipelines: [
            Pipeline().on(UploadContact.self) { upload, run in
                try await cloud.put(upload.contact)
                return .completed
            }
        ])
        try await queue.run()
    }
}

// Sources/GodwitQueue/Transaction/AutomaticOperations.swift, block 1
enum Sources_GodwitQueue_Transaction_AutomaticOperations_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let push = AutomaticOperations(of: contacts) { change in
            switch change.kind {
            case .removed: [DeleteContact(id: change.key.key.text)]
            default: [UploadContact(id: change.key.key.text)]
            }
        }
        try store.addHook(push, named: "push contacts")
    }
}

// Sources/GodwitQueue/Transaction/WriteTransaction+Conflict.swift, block 1
enum Sources_GodwitQueue_Transaction_WriteTransaction_Conflict_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.retryOperation(id, editing: { try $0.replace(with: UploadPhoto(scale: 0.5)) })
    }
}

// Sources/GodwitQueue/Transaction/WriteTransaction+Enqueue.swift, block 1
enum Sources_GodwitQueue_Transaction_WriteTransaction_Enqueue_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.set(customer, for: "7", in: customers)
            let first = try transaction.enqueue(UploadCustomer(id: "7"))
            try transaction.enqueue(UploadOrder(id: "12"), after: [first])
        }
    }
}

// Sources/GodwitQueue/Transaction/WriteTransaction+Modify.swift, block 1
enum Sources_GodwitQueue_Transaction_WriteTransaction_Modify_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.modifyOperation(id) { $0.priority = 10 }
    }
}

// Sources/GodwitReplication/Graph/StateGraph.swift, block 1
enum Sources_GodwitReplication_Graph_StateGraph_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var graph = StateGraph(named: "groceries")
        let first = try graph.commit(["items": [["name": "Bread"]]])
        try graph.setRef("phone", to: first.head)
        try graph.commit(["items": [["name": "Bread"], ["name": "Wine"]]])
        try graph.update(for: "phone").delta.ednText()   // {:items {:+ {1 {:name "Wine"}}}}
        graph.collect()                                  // folds what no client has
    }
}

// Sources/GodwitReplication/Range/DownloadProgress.swift, block 1
enum Sources_GodwitReplication_Range_DownloadProgress_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in connector.statuses(of: replica.name) {
            progressView.progress = status.download?.fractionCompleted ?? 1
        }
    }
}

// Sources/GodwitReplication/Replica/Replica+Conflicts.swift, block 1
enum Sources_GodwitReplication_Replica_Replica_Conflicts_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for record in try await replica.conflicts() {
            for (id, conflict) in record.conflicts where conflict.choice == .theirs {
                try await store.write {
                    try replica.settle(id, about: record.object, .takeOther, in: $0)
                }
            }
        }
    }
}

// Sources/GodwitReplication/Replica/Replica+Undo.swift, block 1
enum Sources_GodwitReplication_Replica_Replica_Undo_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let replica = try await connector.open(name, collections: ["lists"], undoCountMax: 50)
        try await store.write { try replica.undo(in: $0) }
    }
}

// Sources/GodwitReplication/Replica/Replica.swift, block 1
enum Sources_GodwitReplication_Replica_Replica_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let replica = try await Replica.open(
            ReplicaName("shopping"), in: store, collections: ["lists"])
        let request = try await store.write { try replica.nextRequest(in: $0) }
        let answer = try await send(request.bytes, as: request.client)
        let mustAskAgain = try await store.write {
            try replica.receive(answer, to: request, in: $0)
        }
    }
}

// Sources/GodwitReplication/Server/ReplicaServer.swift, block 1
enum Sources_GodwitReplication_Server_ReplicaServer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let server = try await ReplicaServer(Store(.file("server.sqlite")))
        let shopping = try ReplicaName("shopping")
        try await server.create(shopping)
        let answer = try await server.answer(message, from: client, of: shopping)
    }
}

// Sources/GodwitServer/Access/APIKeys.swift, block 1
enum Sources_GodwitServer_Access_APIKeys_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let keys = try APIKeys(store)
        let made = try await keys.create("phone", rights: Rights([.write: [try ReplicaPattern("acme.*")]]))
        print(made.token)                      // shown once: the store has its hash
        try await keys.revoke(made.key.id)     // takes effect on the next request
    }
}

// Sources/GodwitServer/Access/AccessControl.swift, block 1
enum Sources_GodwitServer_Access_AccessControl_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/var/lib/godwit/server.sqlite"))
        let made = try await APIKeys(store).create("phone", rights: Rights([.create: [.all]]))
        try await SyncServer(store: store, host: "0.0.0.0", access: .keys).run()
    }
}

// Sources/GodwitServer/Access/ReplicaPattern.swift, block 1
enum Sources_GodwitServer_Access_ReplicaPattern_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let acme = try ReplicaPattern("acme.*")
        acme.matches(try ReplicaName("acme.orders"))   // true
        acme.matches(try ReplicaName("acme2.orders"))  // false
    }
}

// Sources/GodwitServer/Access/Rights.swift, block 1
enum Sources_GodwitServer_Access_Rights_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rights = Rights([.write: [try ReplicaPattern("acme.*")]])
        rights.allows(.read, try ReplicaName("acme.orders"))    // true
        rights.allows(.create, try ReplicaName("acme.orders"))  // false
    }
}

// Sources/GodwitServer/Access/TokenRules.swift, block 1
enum Sources_GodwitServer_Access_TokenRules_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var rules = TokenRules(keySet: "/etc/godwit/jwks.json", issuer: "https://id.example.com")
        rules.audience = "godwit"
    }
}

// Sources/GodwitServer/SyncServer.swift, block 1
enum Sources_GodwitServer_SyncServer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let server = SyncServer(store: try Store(.file("/var/lib/godwit/server.sqlite")), port: 7007)
        try await server.run()
    }
}

// Sources/GodwitServer/TLS/TLSFiles.swift, block 1
enum Sources_GodwitServer_TLS_TLSFiles_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let tls = TLSFiles(certificates: "/etc/godwit/fullchain.pem", privateKey: "/etc/godwit/privkey.pem")
        try await SyncServer(store: store, host: "0.0.0.0", access: .keys, tls: tls).run()
    }
}

// Sources/GodwitStore/Coding/Defaulted.swift, block 1
enum Sources_GodwitStore_Coding_Defaulted_1 {
    struct Item: Codable, Sendable, Defaulted {
        var name: String
        var isCrossed = false

        static let defaults = Item(name: "")
    }
}

// Sources/GodwitStore/Commit/ChangeSets.swift, block 1
enum Sources_GodwitStore_Commit_ChangeSets_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await changes in store.changes() {
            print(changes.last, changes.updated)
        }
    }
}

// Sources/GodwitStore/Database/Schema.swift, block 1
enum Sources_GodwitStore_Database_Schema_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let schema = Schema(name: "shop", steps: [
            .sql("CREATE TABLE price (item TEXT PRIMARY KEY, cents INTEGER NOT NULL) STRICT"),
            .change { try $0.execute(sql: "UPDATE price SET cents = cents * 100") },
        ])
        var options = Store.Options()
        options.schemas = [schema]
        let store = try Store(.file(path), options: options)
    }
}

// Sources/GodwitStore/Index/CollectionRules.swift, block 1
enum Sources_GodwitStore_Index_CollectionRules_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.collections = [
            CollectionRules(contacts, indexes: [byPresence]),
            CollectionRules(messages, retention: .age(.seconds(30 * 24 * 3600))),
            CollectionRules(typing, isEphemeral: true),
        ]
    }
}

// Sources/GodwitStore/Index/Field+KeyPath.swift, block 1
enum Sources_GodwitStore_Index_Field_KeyPath_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        Field(\Contact.address.city)     // the same as Field("address", "city")
    }
}

// Sources/GodwitStore/Index/Index.swift, block 1
enum Sources_GodwitStore_Index_Index_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let byPresence = Index("byPresence", on: "presence", "name")
        let inCity = Index("inCity", on: Field("address", "city"))
        let words = Index.fullText("words", on: "title", "text")
    }
}

// Sources/GodwitStore/Name/KeyRange.swift, block 1
enum Sources_GodwitStore_Name_KeyRange_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let year = try transaction.keys(in: notes, range: .prefix("2026-"))
        let half = try transaction.keys(in: notes, range: KeyRange(from: "a", to: "n"))
    }
}

// Sources/GodwitStore/Name/StoreKey.swift, block 1
enum Sources_GodwitStore_Name_StoreKey_1 {
    struct Sku: LosslessStringConvertible, StoreKey {
        let description: String
        init(_ text: String) { description = text }
    }
}

// Sources/GodwitStore/Object/StoreCollection.swift, block 1
enum Sources_GodwitStore_Object_StoreCollection_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let contacts = Store.Collection<Contact>("contacts")
        // The second version of the app has split the name.
        let people = Store.Collection<Person>("contacts", version: 2) { value, version in
            var map = value.map ?? [:]
            let words = map["name"]?.text?.split(separator: " ", maxSplits: 1) ?? []
            map["first"] = .string(Key(String(words.first ?? "")))
            map["last"] = .string(Key(String(words.dropFirst().first ?? "")))
            map["name"] = nil
            return .map(map)
        }
    }
}

// Sources/GodwitStore/Observation/LiveObject.swift, block 1
enum Sources_GodwitStore_Observation_LiveObject_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let robbie = LiveObject(of: "robbie", in: contacts, store)
        Text(robbie.object?.name ?? "")
    }
}

// Sources/GodwitStore/Observation/LiveQuery.swift, block 1
enum Sources_GodwitStore_Observation_LiveQuery_1 {
    @MainActor @Observable final class Model {
        let online: LiveQuery<Contact>

        init(_ store: Store) {
            online = LiveQuery(contacts.where(\.isOnline, .equal(true)).order(by: \.name), in: store)
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        List(model.online.rows) { row in Text(row.object.name) }
    }
}

// Sources/GodwitStore/Observation/Store+Observation.swift, block 1
enum Sources_GodwitStore_Observation_Store_Observation_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for try await contact in store.values(of: "robbie", in: contacts) {
            show(contact)
        }
    }
}

// Sources/GodwitStore/Query/FieldTest.swift, block 1
enum Sources_GodwitStore_Query_FieldTest_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.where(\.city, .oneOf(["Rome", "Oslo"]))
        contacts.where(\.born, .atLeast(spring))
        contacts.where(\.name, .hasPrefix("Ro"))
        contacts.where(\.email, .equal(nil))
    }
}

// Sources/GodwitStore/Query/Filter.swift, block 1
enum Sources_GodwitStore_Query_Filter_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let isNear = Filter<Contact>(\.city, .equal("Rome")) || Filter(\.city, .equal("Ostia"))
        let query = contacts.where(isNear && !Filter(\.isHidden, .equal(true)))
    }
}

// Sources/GodwitStore/Query/Query.swift, block 1
enum Sources_GodwitStore_Query_Query_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let online = contacts.where(\.isOnline, .equal(true)).order(by: \.name)
        let newest = messages.order(by: \.date, .descending).limit(20)
        let spring = messages.where(\.date, .between(march..<june))
        let list = try await store.read { try $0.objects(online) }
        for try await list in store.values(of: online) { show(list) }
    }
}

// Sources/GodwitStore/Query/Query.swift, block 2
enum Sources_GodwitStore_Query_Query_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.order(by: \.city).order(by: \.born, .descending)   // by city, then by date
    }
}

// Sources/GodwitStore/Query/QueryRows.swift, block 1
enum Sources_GodwitStore_Query_QueryRows_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rows = try await store.read { try $0.objects(online) }
        for row in rows { show(row.key, row.object) }
        for (key, error) in rows.unreadable { report(key, error) }
    }
}

// Sources/GodwitStore/Query/TextQuery.swift, block 1
enum Sources_GodwitStore_Query_TextQuery_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let words = Index.fullText("words", on: "title", "text")
        let query = notes.matching("red wi", by: words).limit(20)     // "red wine", "wide red" …
        for row in try await store.read({ try $0.objects(query) }) {
            show(row.object.title, row.snippet)
        }
    }
}

// Sources/GodwitStore/Store+Transactions.swift, block 1
enum Sources_GodwitStore_Store_Transactions_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await pool.write { database in
            try invoice.insert(database)
            try store.write(in: database) { try $0.enqueue(SendInvoice(id: invoice.id)) }
        }
    }
}

// Sources/GodwitStore/Store.swift, block 1
enum Sources_GodwitStore_Store_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/tmp/shop.godwit"))
        let items = Store.Collection<Item>("items")
        try await store.write { transaction in
            try transaction.set(Item(name: "Bread"), for: "bread", in: items)
        }
        let bread = try await store.read { try $0.get("bread", in: items) }
    }
}

// Sources/GodwitStore/Store.swift, block 2
enum Sources_GodwitStore_Store_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            try transaction.set(order, for: "12", in: orders)
            try invoice.insert(transaction.database)
        }
    }
}

// Sources/GodwitStore/Transaction/ObjectReader+Objects.swift, block 1
enum Sources_GodwitStore_Transaction_ObjectReader_Objects_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.enumerate(contacts, range: .prefix("b")) { key, contact, stop in
            if contact.isOnline { stop = true }
        }
    }
}

// Sources/GodwitStore/Transaction/ObjectReader+Objects.swift, block 2
enum Sources_GodwitStore_Transaction_ObjectReader_Objects_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws -> Outcome {
        let theirs = try JSONDecoder().decode(Contact.self, from: answer.body)
        let value = try await store.read { try $0.value(of: theirs, for: "robbie", in: contacts) }
        return .conflict(theirs: value, tag: tag, reason: "the cloud has another version")
    }
}

// Sources/GodwitStore/Transaction/TransactionHook.swift, block 1
enum Sources_GodwitStore_Transaction_TransactionHook_1 {
    struct NoEmptyNames: TransactionHook {
        let collections: Set<Key>? = ["contacts"]

        func willCommit(
            _ changes: [ObjectChange],
            in transaction: borrowing WriteTransaction
        ) throws {
            for change in changes {
                guard try change.newValue()?["name"] != "" else { throw EmptyName() }
            }
        }
    }
}

// Sources/GodwitStore/Transaction/WriteTicket.swift, block 1
enum Sources_GodwitStore_Transaction_WriteTicket_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let ticket = try store.writeLater { try $0.set(draft, for: "draft", in: notes) }
        // ... and somewhere else:
        let commit = try await ticket.finish().commit
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction+Identifiable.swift, block 1
enum Sources_GodwitStore_Transaction_WriteTransaction_Identifiable_1 {
    struct Contact: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.set(robbie, in: contacts)
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction.swift, block 1
enum Sources_GodwitStore_Transaction_WriteTransaction_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let commit = try view.commit(of: "robbie", in: contacts)
        try await store.write { transaction in
            try transaction.require(commit, of: "robbie", in: contacts)
            try transaction.set(edited, for: "robbie", in: contacts)
        }
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction.swift, block 2
enum Sources_GodwitStore_Transaction_WriteTransaction_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.update("robbie", in: contacts) { $0.presence = .online }
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction.swift, block 3
enum Sources_GodwitStore_Transaction_WriteTransaction_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.edit("groceries", in: lists) {
            $0.items.list.move(from: 4, to: 0)
            $0.count += 1
        }
    }
}

// Sources/GodwitStore/View/StoreView.swift, block 1
enum Sources_GodwitStore_View_StoreView_1 {
    @MainActor final class RosterModel {
        let view: StoreView
        let online: LiveList<Contact, Presence, String>

        init(_ store: Store) async throws {
            view = try await store.view()
            online = try await view.list(contacts, grouped: { $0.presence }, sorted: { $0.name })
        }

        func run() async throws { try await view.follow() }
    }
}

// Sources/GodwitTestKit/Clock/ManualClock.swift, block 1
enum Sources_GodwitTestKit_Clock_ManualClock_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let clock = ManualClock()
        async let delay = clock.nextDelay()    // how long a task sleeps
        clock.advance(by: .seconds(5))
    }
}

// Sources/GodwitTestKit/Disk/SimulatedDisk.swift, block 1
enum Sources_GodwitTestKit_Disk_SimulatedDisk_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let folder = try TemporaryFolder()
        let disk = SimulatedDisk(folder: folder)
        disk.cutPower(at: 20)
        let store = try? Store(.file(folder.path("store.sqlite")))   // sees errors from then on
        disk.restart(seed: 7)                                        // what a new store finds
    }
}

// Sources/GodwitTestKit/Executor/SimulatedScheduler.swift, block 1
enum Sources_GodwitTestKit_Executor_SimulatedScheduler_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let scheduler = SimulatedScheduler(seed: 7)
        Task(executorPreference: scheduler.executor(of: 1)) { await serve() }
        while scheduler.step() {}
    }
}

// Sources/GodwitTestKit/Seeded/Seeded.swift, block 1
enum Sources_GodwitTestKit_Seeded_Seeded_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var random = Seeded(seed: 7)
        Int.random(in: 0..<10, using: &random)
    }
}

// Sources/GodwitTree/Delta/Delta+Compose.swift, block 1
enum Sources_GodwitTree_Delta_Delta_Compose_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try first.composed(with: second).applied(to: base)
            == second.applied(to: first.applied(to: base))
    }
}

// Sources/GodwitTree/Delta/Delta+Destination.swift, block 1
enum Sources_GodwitTree_Delta_Delta_Destination_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let base: Value = ["items": ["bread", "wine"]]
        let delta = Delta.diff(base, ["items": ["milk", "bread", "wine"]])
        delta.destination(of: Path([.key("items"), .position(1)]))   // /items/2
    }
}

// Sources/GodwitTree/Delta/Delta.swift, block 1
enum Sources_GodwitTree_Delta_Delta_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let delta = Delta.diff(["items": ["Bread"]], ["items": ["Bread", "Wine"]])
        try delta.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
        delta.ednText()                              // {:items {:+ {1 "Wine"}}}
    }
}

// Sources/GodwitTree/Delta/SealedDelta.swift, block 1
enum Sources_GodwitTree_Delta_SealedDelta_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let change = SealedDelta.diff(old, new)
        try change.apply(to: old)  // .applied(new)
        try change.apply(to: new)  // .alreadyApplied
    }
}

// Sources/GodwitTree/Draft/Draft.swift, block 1
enum Sources_GodwitTree_Draft_Draft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var list: Value = ["items": [["name": "Bread"], ["name": "Wine"]], "note": "for tonight"]
        let isCrossed = true
        let delta = try list.edit {
            $0.items[0].crossed = isCrossed
            $0.items[1].quantity = 2
            $0.items[1].quantity += 1
            $0.items.list.move(from: 1, to: 0)
            $0.items.list.append(["name": "Milk"])
            $0.note.text.append(", or tomorrow")
        }
    }
}

// Sources/GodwitTree/Draft/ListDraft.swift, block 1
enum Sources_GodwitTree_Draft_ListDraft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try value.edit {
            $0.items.list.append("Milk")
            $0.items.list.move(from: $0.items.list.count - 1, to: 0)
        }
    }
}

// Sources/GodwitTree/Draft/TextDraft.swift, block 1
enum Sources_GodwitTree_Draft_TextDraft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try value.edit {
            $0.note.text.insert("very ", at: 4)
            $0.note.text.replaceSubrange(0..<3, with: "The")
        }
    }
}

// Sources/GodwitTree/Draft/Value+Edit.swift, block 1
enum Sources_GodwitTree_Draft_Value_Edit_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var item: Value = ["name": "Wine", "quantity": 1]
        let delta = try item.edit { $0.quantity += 2 }  // {:quantity #d/inc 2}
    }
}

// Sources/GodwitTree/Draft/ValueConvertible.swift, block 1
extension Money: ValueConvertible {
    func asValue() throws(TreeError) -> Value { try cents.asValue() }

    init?(value: Value) {
        guard let cents = Int(value: value) else { return nil }
        self.init(cents: cents)
    }
}
enum Sources_GodwitTree_Draft_ValueConvertible_1 {
}

// Sources/GodwitTree/Interchange/JSONPatch+Export.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPatch_Export_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let delta = Delta.diff(["a": [1, 2, 3]], ["a": [3, 1, 2]])
        try JSONPatch(delta, on: ["a": [1, 2, 3]]).encoded
            // [{:from "/a/2" :op "move" :path "/a/0"}]
    }
}

// Sources/GodwitTree/Interchange/JSONPatch+Recognition.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPatch_Recognition_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let patch = try JSONPatch([["op": "add", "path": "/wine", "value": 2]])
        patch.isApplied(to: ["bread": 1, "wine": 2])  // true
        patch.isApplied(to: ["bread": 1])             // false
    }
}

// Sources/GodwitTree/Interchange/JSONPatch.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPatch_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let patch = try JSONPatch([["op": "add", "path": "/items/-", "value": "Wine"]])
        try patch.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
    }
}

// Sources/GodwitTree/Interchange/JSONPointer.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPointer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pointer = try JSONPointer("/items/0/a~1b")  // items, 0, a/b
    }
}

// Sources/GodwitTree/Interchange/MergePatch.swift, block 1
enum Sources_GodwitTree_Interchange_MergePatch_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let value: Value = ["a": 1, "b": 2]
        try value.applying(mergePatch: ["a": .null, "c": 3])  // {:b 2 :c 3}
    }
}

// Sources/GodwitTree/Interchange/MergePatch.swift, block 2
enum Sources_GodwitTree_Interchange_MergePatch_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try Delta(mergePatch: ["a": .null, "c": 3], on: ["a": 1, "b": 2])  // {:a #d/del nil :c 3}
    }
}

// Sources/GodwitTree/Merge/Merge.swift, block 1
enum Sources_GodwitTree_Merge_Merge_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let merge = Merge(
            base: ["list": ["Bread"]],
            ours: ["list": ["Bread", "Wine"]],
            theirs: ["list": ["Milk", "Bread"]])
        merge.value      // {:list ["Milk" "Bread" "Wine"]}
        merge.conflicts  // []
    }
}

// Sources/GodwitTree/Pack/Delta+Pack.swift, block 1
enum Sources_GodwitTree_Pack_Delta_Pack_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let bytes = try delta.packed(on: base)
        try Delta(packed: bytes, on: base).applied(to: base) == delta.applied(to: base)
    }
}

// Sources/GodwitTree/Policy/MergePolicy.swift, block 1
enum Sources_GodwitTree_Policy_MergePolicy_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var policy = MergePolicy()
        policy.set(.max, at: "/votes")
        policy.set(.deleteWins, at: "/items/*")
        policy.identify(by: "sku", at: "/items")
        let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
    }
}

// Sources/GodwitTree/Policy/MergePolicy.swift, block 2
enum Sources_GodwitTree_Policy_MergePolicy_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        policy.include(Price.mergePolicy, at: "/items/*/price")
    }
}

// Sources/GodwitTree/Policy/MergePolicyProviding.swift, block 1
enum Sources_GodwitTree_Policy_MergePolicyProviding_1 {
    struct Price: Codable {
        var amount: Int
        var currency: String
    }
    struct Item: Codable, MergePolicyProviding {
        var name: String
        var price: Price
        var votes = 0

        static var mergePolicy: MergePolicy {
            var policy = MergePolicy(version: 1)
            policy.set(.whole, at: "/price")
            policy.set(.max, at: "/votes")
            return policy
        }
    }
}

// Sources/GodwitTree/Text/EDNReader+Delta.swift, block 1
enum Sources_GodwitTree_Text_EDNReader_Delta_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let delta = try Delta(edn: "{:items {:- #{0} :+ {1 {:name \"Wine\"}}}}")
    }
}

// Sources/GodwitTree/Text/EDNReader.swift, block 1
enum Sources_GodwitTree_Text_EDNReader_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let list = try Value(edn: "{:items [\"Bread\", \"Wine\"] ; to buy\n}")
    }
}

// Sources/GodwitTree/Text/EDNWriter.swift, block 1
enum Sources_GodwitTree_Text_EDNWriter_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        (["items": [["name": "Wine"]]] as Value).ednText()  // {:items [{:name "Wine"}]}
    }
}

// Sources/GodwitTree/Text/JSONReader.swift, block 1
enum Sources_GodwitTree_Text_JSONReader_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let item = try Value(json: #"{"name": "Wine", "price": 12.50}"#)
    }
}

// Sources/GodwitTree/Value/Key.swift, block 1
enum Sources_GodwitTree_Value_Key_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        Key("\u{e9}") == Key("e\u{301}")  // false
    }
}

// Sources/GodwitTree/Value/List.swift, block 1
enum Sources_GodwitTree_Value_List_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var items: Value.List = ["Bread", "Wine"]
        items.insert("Milk", at: 1)
    }
}

// Sources/GodwitTree/Value/Map.swift, block 1
enum Sources_GodwitTree_Value_Map_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var item: Value.Map = ["name": "Wine"]
        item["crossed"] = true
        item["name"] = nil
    }
}

// Sources/GodwitTree/Value/ReadBudget.swift, block 1
enum Sources_GodwitTree_Value_ReadBudget_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let value = try Value(json: body, budget: .request)
    }
}

// Sources/GodwitTree/Value/Value.swift, block 1
enum Sources_GodwitTree_Value_Value_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let item: Value = ["name": "Wine", "crossed": false]
        item["name"]  // "Wine"
    }
}
