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
