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
