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
