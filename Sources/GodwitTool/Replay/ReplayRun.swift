import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTree

/// Plays the versions of a document as edits of one device, while another follows.
///
/// The editor remembers in its own store, in the transaction of each edit, how far it is: a
/// replay that was killed goes on where it stopped.
struct ReplayRun {
    let file: String
    let transport: HTTPTransport
    let replica: ReplicaName
    let folder: URL
    let versionsMax: Int

    private static let position = ObjectKey(collection: "replay", key: "position")
    private static let document = ObjectKey(collection: Device.documents, key: "d")
    private static let statesMax = ReplicaSummary.stateCountMax(clientCount: 2)
    private static let statesCheckInterval = 50

    func run() async throws -> ReplayReport {
        try await patiently { try await transport.create(replica) }
        let editor = try await device("editor")
        let follower = try await device("follower")
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await editor.connector.run() }
            group.addTask { try await follower.connector.run() }
            let report = try await play(on: editor, followedBy: follower)
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
            try editor.store.close()
            try follower.store.close()
            return report
        }
    }

    private func device(_ name: String) async throws -> Device {
        try await Device(
            path: folder.appending(path: "\(name).sqlite").path,
            replica: replica,
            transport: transport
        )
    }

    private func play(on editor: Device, followedBy follower: Device) async throws -> ReplayReport {
        var bar = ProgressBar("replaying")
        defer { bar.finish() }
        let total =
            Terminal.isErrorInteractive ? try LineFile(path: file).reduce(0) { n, _ in n + 1 } : 0
        let done = try await editor.store.read { try $0.value(of: Self.position)?.integer ?? 0 }
        let lines = try LineFile(path: file)
        let clock = ContinuousClock()
        var (edits, statesMost, started) = (0, 0, clock.now)
        for (index, line) in lines.prefix(versionsMax).enumerated() where index >= done {
            let version = try parse(line, number: index + 1)
            if try await edit(editor, to: version, position: Int64(index + 1)), index > 0 {
                edits += 1
            }
            if index == 0 { started = clock.now }
            bar.show(index + 1, fraction: total > 0 ? Double(index + 1) / Double(total) : nil)
            guard index.isMultiple(of: Self.statesCheckInterval) else { continue }
            statesMost = max(statesMost, try await checkedStateCount())
        }
        try lines.finish()
        let head = try await agree(editor, follower)
        let seconds = (clock.now - started) / .seconds(1)
        let sizes = editor.traffic.edits
        return ReplayReport(
            edits: edits,
            seconds: seconds,
            firstSizeInBytes: done == 0 ? sizes.first ?? 0 : 0,
            sizes: Array(sizes.dropFirst(done == 0 ? 1 : 0)),
            statesKept: max(statesMost, try await checkedStateCount()),
            statesMax: Self.statesMax,
            id: head
        )
    }

    /// Makes one version the document, and waits until the server has it.
    ///
    /// - Returns: Whether the version differs from the one before.
    private func edit(_ editor: Device, to version: Value, position: Int64) async throws -> Bool {
        let (commit, isEdit) = try await editor.store.write { transaction in
            let old = try transaction.value(of: Self.document)
            try transaction.setValue(version, of: Self.document)
            try transaction.setValue(.int(position), of: Self.position)
            return (transaction.commit, old != version)
        }
        try await editor.connector.pushed(through: commit)
        try Task.checkCancellation()
        return isEdit
    }

    private func parse(_ line: [UInt8], number: Int) throws -> Value {
        do {
            return try Value(json: line)
        } catch {
            throw ToolError("\(file), line \(number): \(error)")
        }
    }

    /// Fails unless the server and both devices end with the same id and the same bytes.
    private func agree(_ editor: Device, _ follower: Device) async throws -> StateID {
        let summary = try await patiently { try await transport.fetch("", of: replica) }
        guard let text = summary["head"]?.text, let bytes = [UInt8](hex: text),
            let head = StateID(bytes: bytes)
        else { throw ToolError("the server named no head") }
        for device in [editor, follower] {
            try await within(.seconds(60)) { try await device.reach(head) }
        }
        let server = try await patiently { try await transport.fetch("/value", of: replica) }
        for device in [editor, follower] {
            guard try await device.replica.status().base.id == head,
                try await device.allDocuments().canonicalBytes
                    == server[Device.documents]?.canonicalBytes
            else { throw ToolError("server and devices do not end with the same bytes") }
        }
        return head
    }

    private func checkedStateCount() async throws -> Int {
        let summary = try await patiently { try await transport.fetch("", of: replica) }
        let count = Int(summary["states"]?.integer ?? 0)
        guard count <= Self.statesMax else {
            throw ToolError("the server keeps \(count) states of \(Self.statesMax)")
        }
        return count
    }
}

/// Tries again, for half a minute, while the server cannot be reached.
func patiently<Result>(_ body: () async throws -> Result) async throws -> Result {
    for _ in 0..<300 {
        do {
            return try await body()
        } catch ConnectorError.unreachable, ConnectorError.interrupted {
            try await Task.sleep(for: .milliseconds(100))
        }
    }
    return try await body()
}

/// Fails with a ``ToolError`` when `body` takes longer than `limit`.
func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            throw ToolError("nothing happened for \(limit)")
        }
        try await group.next()
        group.cancelAll()
    }
}
