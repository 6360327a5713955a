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
import Testing

// Documentation/Godwit.docc/Godwit.md, block 1
enum Documentation_Godwit_docc_Godwit_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file(path))
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["items"])
        async let syncing: Void = connector.run()
        try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
        }
    }
}

// Documentation/conflicts.md, block 1
enum Documentation_conflicts_1 {
    struct Price: Codable {
        var amount: Int
        var currency: String
    }
    struct Product: Codable, Sendable, MergePolicyProviding {
        var name: String
        var price: Price
        var votes = 0

        static var mergePolicy: MergePolicy {
            var policy = MergePolicy(version: 1)
            policy.set(.whole, at: "/price")       // amount and currency are one value
            policy.set(.max, at: "/votes")
            return policy
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let products = Store.Collection<Product>("products")
        var options = Store.Options()
        options.collections = [CollectionRules(products)]
    }
}

// Documentation/conflicts.md, block 2
enum Documentation_conflicts_2 {
    struct ConflictScreen: View {
        let inbox: ConflictInbox<Contact>

        var body: some View {
            List(inbox.conflicts) { conflict in
                Button("Take \(conflict.other?.name ?? "the removal")") {
                    Task { try await inbox.settle(conflict, .takeOther) }
                }
            }
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let screen = ConflictScreen(inbox: ConflictInbox(of: contacts, in: store))
    }
}

// Documentation/conflicts.md, block 3
enum Documentation_conflicts_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for record in try await shopping.conflicts() {
            for (id, conflict) in record.conflicts {
                show(conflict.path, conflict.explanation, conflict.base, conflict.ours, conflict.theirs)
                try await store.write { try shopping.settle(id, about: record.object, .takeOther, in: $0) }
            }
        }
    }
}

// Documentation/conflicts.md, block 4
enum Documentation_conflicts_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let replica = try await connector.open(ReplicaName("notes"), collections: ["notes"], undoCountMax: 50)
        try await store.write { try replica.undo(in: $0) }
        try await store.write { try replica.redo(in: $0) }
        let counts = try await store.read { try replica.undoCounts(in: $0) }     // to enable two buttons
    }
}

// Documentation/conflicts.md, block 5
enum Documentation_conflicts_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var pipeline = uploads
        pipeline.resolve = { conflict in
            guard conflict.key?.collection == "contacts" else { return conflict.resolvedIfClean() }
            return .take(conflict.merged().value)          // the merge, whatever was in doubt
        }
    }
}

// Documentation/getting-started.md, block 2
enum Documentation_getting_started_2 {
    struct Item: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
        var isCrossed = false
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let items = Store.Collection<Item>("items")
        let openItems = items.where(\.isCrossed, .equal(false)).order(by: \.name)
    }
}

// Documentation/getting-started.md, block 3
enum Documentation_getting_started_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file(CommandLine.arguments[1]))
    }
}

// Documentation/getting-started.md, block 4
enum Documentation_getting_started_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "http://127.0.0.1:7007")
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["items"])
        let syncing = Task.detached { try await connector.run() }
    }
}

// Documentation/getting-started.md, block 5
enum Documentation_getting_started_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let showing = Task.detached {
            for try await rows in store.values(of: openItems) {
                print("To buy:", rows.map(\.object.name).joined(separator: ", "))
            }
        }
        while let line = readLine() {
            let name = line.trimmingCharacters(in: ["-", " "])
            try await store.write { transaction in
                if line.hasPrefix("-") {
                    for row in try transaction.objects(openItems.where(\.name, .equal(name))) {
                        try transaction.edit(row.key, in: items) { $0.isCrossed = true }
                    }
                } else {
                    try transaction.set(Item(name: name), in: items)
                }
            }
        }
    }
}

// Documentation/moving-from-cksyncengine.md, block 2
enum Documentation_moving_from_cksyncengine_2 {
    struct Note: Codable, Identifiable, Sendable {
        var id = UUID()
        var title: String
        var text = ""
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let notes = Store.Collection<Note>("notes")
        let store = try Store(.file(path))
        let connector = try ReplicaConnector(
            store, transport: HTTPTransport(server: "https://sync.example.com", token: key))
        let replica = try await connector.open(ReplicaName("ann.notes"), collections: ["notes"])
        async let syncing: Void = connector.run()
        let note = Note(title: "Groceries")
        try await store.write { try $0.set(note, in: notes) }                       // is pushed by itself
        try await store.write { try $0.edit(note.id, in: notes) { $0.text.append("Wine") } }
    }
}

// Documentation/moving-from-cksyncengine.md, block 3
enum Documentation_moving_from_cksyncengine_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let uploads = Pipeline().on(UploadContact.self) { upload, run in
            let (contact, tag) = try await store.read { transaction in
                (try transaction.get(upload.id, in: contacts), try transaction.tag(for: upload.id))
            }
            let newTag = try await cloud.put(contact, ifMatch: tag, key: run.operation.idempotencyKey)
            return .completed { try $0.setTag(newTag, for: upload.id) }
        }
    }
}

// Documentation/moving-from-grdb.md, block 1
enum Documentation_moving_from_grdb_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pool = try DatabasePool(path: path)
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            try transaction.set(customer, for: "7", in: customers)
            try invoice.insert(transaction.database)                     // a record of yours, in the same commit
        }
        try await pool.write { database in                               // or within a transaction of yours
            try invoice.update(database)
            try store.write(in: database) { try $0.enqueue(SendInvoice(id: invoice.id)) }
        }
    }
}

// Documentation/moving-from-grdb.md, block 2
enum Documentation_moving_from_grdb_2 {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var score: Int
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("create player") { database in
            try database.create(table: "player") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("score", .integer).notNull().indexed()
            }
        }
        try migrator.migrate(pool)
        try await pool.write { try Player(id: 1, name: "Ann", score: 10).insert($0) }
        let best = try await pool.read { database in
            try Player.order(Column("score").desc).limit(10).fetchAll(database)
        }
        let observation = ValueObservation.tracking { try Player.fetchAll($0) }
        for try await players in observation.values(in: pool) { show(players) }
    }
}

// Documentation/moving-from-grdb.md, block 3
enum Documentation_moving_from_grdb_3 {
    struct Player: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
        var score: Int
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let players = Store.Collection<Player>("players")
        var options = Store.Options()
        options.collections = [
            CollectionRules(players, indexes: [Store.Index("byScore", on: Field(\Player.score))])
        ]
        let store = try Store(.file(path), options: options)
        try await store.write { try $0.set(Player(id: 1, name: "Ann", score: 10), in: players) }
        let best = try await store.read { transaction in
            try transaction.objects(players.order(by: \.score, .descending).limit(10))
        }
        for try await rows in store.values(of: players.all) { show(rows) }
    }
}

// Documentation/moving-from-grdb.md, block 4
enum Documentation_moving_from_grdb_4 {
    struct OldPlayer: Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "player"
        var id: Int
        var name: String
        var score: Int
    }
    struct Player: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
        var score: Int
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let players = Store.Collection<Player>("players")
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            guard try transaction.database.tableExists("player") else { return }
            for old in try OldPlayer.fetchAll(transaction.database) {
                try transaction.set(Player(id: old.id, name: old.name, score: old.score), in: players)
            }
            try transaction.database.drop(table: "player")
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
        for row in rows { print(row.key, row.object.name) }
        for try await rows in store.values(of: query) { show(rows) }   // now, and whenever they change
    }
}

// Documentation/queries.md, block 6
enum Documentation_queries_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            for row in try transaction.objects(contacts.where(\.city, .equal("Oslo"))) {
                try transaction.update(row.key, in: contacts) { $0.isOnline = false }
            }
        }
    }
}

// Documentation/queries.md, block 7
enum Documentation_queries_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let open = invoices.where(\.isPaid, .equal(false))
        let cents = try await store.read { try $0.sum(\.cents, of: open) }
    }
}

// Documentation/queries.md, block 8
enum Documentation_queries_8 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let byCity = Store.Index("byCity", on: Field(\Contact.city), Field(\Contact.name))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [byCity])]
    }
}

// Documentation/queries.md, block 9
enum Documentation_queries_9 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let words = Store.Index.fullText("words", on: Field(\Contact.name), Field(\Contact.notes))
        let found = try await store.read { try $0.objects(contacts.matching("rob", by: words)) }
        for row in found { print(row.object.name, row.snippet.marked("[", "]")) }
    }
}

// Documentation/queue.md, block 1
enum Documentation_queue_1 {
    struct UploadContact: PushOperation {
        static let kind = "upload-contact"               // the stored name: keep it when you rename the type
        let contact: String
        var objects: [ObjectKey] { [contacts.place(contact)] }
        var effect: Effect? { .write(contact, of: "contacts") }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pipeline = Pipeline(maxConcurrent: 4).on(UploadContact.self) { upload, run in
            try await cloud.put(upload.contact, key: run.operation.idempotencyKey)
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        async let running: Void = queue.run()
        try await store.write { transaction in
            try transaction.update("robbie", in: contacts) { $0.isOnline = true }
            try transaction.enqueue(UploadContact(contact: "robbie"))
        }
    }
}

// Documentation/queue.md, block 2
enum Documentation_queue_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            let photo = try transaction.enqueue(UploadPhoto(id: "7"), Placement(pipeline: "photos", priority: -1))
            try transaction.enqueue(UploadContact(id: "robbie"), after: [photo])
        }
    }
}

// Documentation/queue.md, block 3
enum Documentation_queue_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await summary in queue.summaries() {
            show(summary.pending, summary.running, summary.conflicts, summary.failed)
        }
        let status = try await queue.status(of: id)          // waiting, with its reasons; running; conflict; refused
        print(try await queue.why(id).joined(separator: "\n"))
    }
}

// Documentation/queue.md, block 4
enum Documentation_queue_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let letters = try await store.read { try $0.operations(where: .refused) }
        for letter in letters {
            show(letter.kind, letter.reason, try await store.read { try $0.attempts(of: letter.id) })
            try await store.write { try $0.retryOperation(letter.id) }       // or skipOperation(_:reason:)
        }
        try await store.write { transaction in
            try transaction.retryOperation(id, editing: { try $0.replace(with: UploadPhoto(scale: 0.5)) })
        }
    }
}

// Documentation/queue.md, block 5
enum Documentation_queue_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await queue.markActive(id)
        async let running: Void = queue.run()
        try await queue.finish(id, with: .completed)
    }
}

// Documentation/replication.md, block 1
enum Documentation_replication_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: key)
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["items", "lists"])
        try await connector.run()
    }
}

// Documentation/replication.md, block 2
enum Documentation_replication_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in connector.statuses(of: shopping.name) {
            show(status.isConnected, status.lastSynced, status.lastError)
        }
        let status = try await shopping.status()
        show(status.pendingCount, status.refusedByApp, status.rejections)
    }
}

// Documentation/replication.md, block 3
enum Documentation_replication_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let commit = try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
            return transaction.commit
        }
        try await connector.pushed(through: commit)              // while `run` runs
        try await connector.synchronize(shopping.name)
    }
}

// Documentation/replication.md, block 4
enum Documentation_replication_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        connector.close(shopping.name)                                       // until it is opened again
        try await connector.leave(shopping.name)                             // keeps the objects, as the app's own
        try await connector.leave(shopping.name, removingObjects: true)      // signs out
    }
}

// Documentation/replication.md, block 5
enum Documentation_replication_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = ReplicaConnector.Options()
        options.hasOwnQueue = false
        let connector = try ReplicaConnector(store, transport: transport, options: options)
        let queue = try PushQueue(store, pipelines: [uploads, connector.pipeline])
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["items"])
        async let running: Void = queue.run()
        async let syncing: Void = connector.run()
    }
}

// Documentation/replication.md, block 6
enum Documentation_replication_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var graph = StateGraph(named: "groceries")
        let first = try graph.commit(["items": [["name": "Bread"]]])
        try graph.setRef("phone", to: first.head)
        try graph.commit(["items": [["name": "Bread"], ["name": "Wine"]]])
        try graph.update(for: "phone").delta.ednText()      // {:items {:+ {1 {:name "Wine"}}}}
    }
}

// Documentation/screens.md, block 1
enum Documentation_screens_1 {
    struct ShoppingScreen: View {
        let list: LiveQuery<Item>

        var body: some View {
            List(list.rows) { row in Text(row.object.name) }
        }
    }
}

// Documentation/screens.md, block 2
enum Documentation_screens_2 {
    @MainActor @Observable final class ShoppingModel {
        let store: Store
        let open: LiveQuery<Item>

        init(_ store: Store) {
            self.store = store
            open = LiveQuery(items.where(\.isCrossed, .equal(false)).order(by: \.name), in: store)
        }

        func crossOff(_ id: String) async throws {
            try await store.write { try $0.edit(id, in: items) { $0.isCrossed = true } }
        }
    }
}

// Documentation/screens.md, block 3
enum Documentation_screens_3 {
    struct ContactScreen: View {
        let contact: LiveObject<Contact>

        var body: some View {
            Text(contact.object?.name ?? "")
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let screen = ContactScreen(contact: LiveObject(of: "robbie", in: contacts, store))
    }
}

// Documentation/screens.md, block 4
enum Documentation_screens_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for try await total in store.values({ try $0.sum(\.cents, of: invoices.where(\.isPaid, .equal(false))) }) {
            label.text = "\(total)"
        }
    }
}

// Documentation/screens.md, block 5
enum Documentation_screens_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in connector.statuses(of: shopping.name) {
            label.text = status.isConnected ? "In sync" : status.lastError ?? "Connecting…"
            progressView.progress = status.download?.fractionCompleted ?? 1
        }
    }
}

// Documentation/screens.md, block 6
enum Documentation_screens_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let monitor = QueueMonitor(queue)
        async let following: Void = monitor.run()
        label.text = "\(monitor.summary.pending) to send, \(monitor.summary.failed) refused"
    }
}

// Documentation/screens.md, block 7
enum Documentation_screens_7 {
    @MainActor final class RosterModel {
        let view: ReadView
        let roster: LiveList<Contact, Presence, String>

        init(_ store: Store) async throws {
            view = try await store.view()
            roster = try await view.list(contacts, grouped: { $0.presence }, sorted: { $0.name })
        }

        func object(at position: RowPosition) throws -> Contact? {
            try view.get(roster.key(at: position), in: contacts)
        }

        func run() async throws {
            try await view.follow { [roster] _ in animate(roster.change) }
        }
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

// Documentation/server.md, block 1
enum Documentation_server_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: key)
        try await transport.create(ReplicaName("shopping"))
    }
}

// Documentation/server.md, block 2
enum Documentation_server_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/var/lib/godwit/server.sqlite"))
        let made = try await APIKeys(store).create("phones", rights: Rights([.create: [.all]]))
        let server = SyncServer(
            store: store,
            host: "0.0.0.0",
            access: .keys,
            tls: TLSFiles(certificates: "fullchain.pem", privateKey: "privkey.pem")
        )
        try await server.run()
    }
}

// Documentation/server.md, block 3
enum Documentation_server_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let server = SyncServer(store: try Store(.memory), port: 0) { found.yield($0) }
        async let serving: Void = server.run()
        for await port in ports {
            try await HTTPTransport(server: "http://127.0.0.1:\(port)").create(ReplicaName("shopping"))
            break
        }
    }
}

// Documentation/store.md, block 1
enum Documentation_store_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file(path))                  // or .memory
        let contacts = Store.Collection<Contact>("contacts")
    }
}

// Documentation/store.md, block 2
enum Documentation_store_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.set(robbie, in: contacts)                                   // by its `id`
            try transaction.set(Note(title: "Call"), for: "call", in: notes)            // by a key
            try transaction.update(robbie.id, in: contacts) { $0.isOnline = true }
            try transaction.remove("call", in: notes)
        }
        let contact = try await store.read { try $0.get(robbie.id, in: contacts) }      // nil if it is gone
        let all = try await store.read { try $0.objects(contacts.all) }
    }
}

// Documentation/store.md, block 3
enum Documentation_store_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.edit("groceries", in: lists) { list in
                list.title = "For tonight"
                list.count += 1                            // two devices add 1 each: it grows by 2
                list.items.move(from: 4, to: 0)
                list.items[id: "wine"].crossed = true
                list.note.append(", or tomorrow")
            }
        }
    }
}

// Documentation/store.md, block 4
enum Documentation_store_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let people = Store.Collection<ContactV1>("contacts")
            .upgraded(to: ContactV2.self) { ContactV2(name: $0.name, isOnline: $0.presence == "online") }
        var options = Store.Options()
        options.collections = [CollectionRules(people)]
    }
}

// Documentation/store.md, block 5
enum Documentation_store_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.migrations = [
            .sql("create price", "CREATE TABLE price (item TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT"),
            .change("price in cents") { try $0.execute(sql: "UPDATE price SET amount = amount * 100") },
        ]
    }
}

// Documentation/store.md, block 6
enum Documentation_store_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let view = try await store.view()
        let before = try view.get(robbie.id, in: contacts)     // as long as you like
        let changes = try view.advance()                       // the change set; nil if nothing has changed
    }
}

// Documentation/store.md, block 7
enum Documentation_store_7 {
    struct NoEmptyNames: TransactionHook {
        func willCommit(_ changes: [ObjectChange], in transaction: borrowing WriteTransaction) throws {
            for change in changes where change.key.collection == contacts.name {
                guard try change.new(in: contacts)?.name != "" else { throw EmptyName() }
            }
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try store.addHook(NoEmptyNames(), named: "no empty names")
    }
}

// Documentation/store.md, block 8
enum Documentation_store_8 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.collections = [
            CollectionRules(messages, retention: .age(.seconds(30 * 24 * 3_600))),   // or .count(1_000)
            CollectionRules(typing, isEphemeral: true),                              // empty at each opening
        ]
    }
}

// Documentation/store.md, block 9
enum Documentation_store_9 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.processes = .several
        let store = try Store(.file(path), options: options)
        async let following: Void = store.followOtherProcesses()
    }
}

// Documentation/store.md, block 10
enum Documentation_store_10 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.backup(to: "/backups/monday.sqlite")     // while the store is in use
        let report = try await store.integrityCheck()            // reads everything
        print(report.isSound, report.problems)
    }
}

// Documentation/testing.md, block 1
enum Documentation_testing_1 {
    struct Device {
        let store: Store
        let connector: ReplicaConnector
        let list: Replica

        init(_ network: SimulatedNetwork) async throws {
            store = try Store(.memory)
            connector = try ReplicaConnector(store, transport: network)
            list = try await connector.open(ReplicaName("shopping"), collections: ["items"])
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
            try await network.create(ReplicaName("shopping"))
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
            network.decide { number in number == 0 ? .loseAnswer : .arrives }
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
            let upload = try await store.write { try $0.enqueue(UploadContact(id: "robbie")) }
            #expect(await clock.nextDelay() == .seconds(5))
            clock.advance(by: .seconds(5))
            #expect(try await queue.fate(of: upload) == .completed)
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
