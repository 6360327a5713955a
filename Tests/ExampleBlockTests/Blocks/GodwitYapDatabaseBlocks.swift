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

// Sources/GodwitYapDatabase/YapDatabaseImport+Run.swift, block 1
enum Sources_GodwitYapDatabase_YapDatabaseImport_Run_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let report = try await source.run(into: store)
        for object in report.leftOutObjects { print(object.collection, object.key, object.reason) }
    }
}

// Sources/GodwitYapDatabase/YapDatabaseImport+Run.swift, block 2
enum Sources_GodwitYapDatabase_YapDatabaseImport_Run_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        if try await source.runOnce("first database", into: store) == nil { print("nothing to do") }
    }
}

// Sources/GodwitYapDatabase/YapDatabaseImport.swift, block 1
enum Sources_GodwitYapDatabase_YapDatabaseImport_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var source = YapDatabaseImport("/tmp/database.sqlite")
        source.decoders["contacts"] = .codable(Contact.self)
        source.translate = { operation, placement in
            guard operation.className == "UploadOperation" else { return nil }
            return UploadContact(id: operation.fields["contactID"]?.text ?? "")
        }
        let report = try await source.run(into: store)
    }
}

// Sources/GodwitYapDatabase/YapObjectDecoder.swift, block 1
enum Sources_GodwitYapDatabase_YapObjectDecoder_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        source.decoders["contacts"] = .codable(Contact.self)
        source.decoders["notes"] = YapObjectDecoder { bytes, place in
            let note = try KeyedArchive(bytes).root
            return ["text": note["body"] ?? "", "id": .string(place.key)]
        }
    }
}

// Sources/GodwitYapDatabase/YapObjectDecoder.swift, block 2
enum Sources_GodwitYapDatabase_YapObjectDecoder_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        source.decoders["orders"] = .codable(Order.self) { data in
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(Order.self, from: data)
        }
    }
}
