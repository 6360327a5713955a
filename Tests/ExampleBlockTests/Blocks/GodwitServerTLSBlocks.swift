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

// Sources/GodwitServer/TLS/TLSFiles.swift, block 1
enum Sources_GodwitServer_TLS_TLSFiles_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let tls = TLSFiles(certificates: "/etc/godwit/fullchain.pem", privateKey: "/etc/godwit/privkey.pem")
        try await SyncServer(
            store: store,
            host: "0.0.0.0",
            options: SyncOptions(access: .keys),
            tls: tls
        ).run()
    }
}
