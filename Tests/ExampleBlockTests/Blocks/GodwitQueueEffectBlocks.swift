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

// Sources/GodwitQueue/Effect/Effect.swift, block 1
enum Sources_GodwitQueue_Effect_Effect_1 {
    struct UploadContact: PushOperation {
        static let kind = "upload-contact"
        let contact: String
        var effect: Effect? { .write(contact, of: "contacts") }
    }
}
