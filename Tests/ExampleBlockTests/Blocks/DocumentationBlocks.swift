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
        let byCity = Store.Index("byCity", on: Field(\Contact.city), Field(\Contact.name))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [byCity])]
    }
}

// Documentation/queries.md, block 7
enum Documentation_queries_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let words = Store.Index.fullText("words", on: Field(\Contact.name), Field(\Contact.notes))
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
