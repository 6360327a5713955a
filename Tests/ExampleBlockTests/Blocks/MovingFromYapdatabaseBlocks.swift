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

// Documentation/moving-from-yapdatabase.md, block 1
enum Documentation_moving_from_yapdatabase_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.update("robbie", in: contacts) { $0.name = "Robbie" }
            try transaction.enqueue(UploadContact(contact: "robbie"))
        }
    }
}

// Documentation/moving-from-yapdatabase.md, block 2
enum Documentation_moving_from_yapdatabase_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let view = try await store.view()
        let contact = try view.get("robbie", in: contacts)
        try view.advance()
    }
}

// Documentation/moving-from-yapdatabase.md, block 3
enum Documentation_moving_from_yapdatabase_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var source = YapDatabaseImport(path)
        source.decoders["contacts"] = .codable(Contact.self)
        source.decoders["settings"] = .propertyList
        source.decoders["photos"] = .bytes
        let report = try await source.run(into: store)
    }
}

// Documentation/moving-from-yapdatabase.md, block 4
enum Documentation_moving_from_yapdatabase_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        source.decoders["contacts"] = YapObjectDecoder { bytes, place in
            let old = try KeyedArchive(bytes).root
            return ["name": old["fullName"] ?? "", "city": old["town"] ?? .null]
        }
    }
}

// Documentation/moving-from-yapdatabase.md, block 5
enum Documentation_moving_from_yapdatabase_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        source.translate = { operation, placement in
            guard operation.className == "UploadOperation" else { return nil }
            // A cloud that knows the work by CloudCore's UUID goes on knowing it.
            placement.idempotencyKey = operation.uuid.uuidString
            return UploadContact(contact: operation.fields["contactID"]?.text ?? "")
        }
    }
}

// Documentation/moving-from-yapdatabase.md, block 6
enum Documentation_moving_from_yapdatabase_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        if let report = try await source.runOnce("first database", into: store) {
            for object in report.leftOutObjects { print(object.collection, object.key, object.reason) }
        }
    }
}

// Documentation/moving-from-yapdatabase.md, block 7
enum Documentation_moving_from_yapdatabase_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        source.prepareConnection = { database in
            try database.execute(sql: "PRAGMA key = 'secret'")
        }
    }
}
