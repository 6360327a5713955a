import Foundation
import GodwitQueue
import GodwitStore
import GodwitTree

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Something that is pushed as a whole; the version tells one edit from the next.
struct Contact: Codable, Hashable, Sendable {
    var version: Int
}

/// Pushes a contact as it is when the operation runs.
struct PushContact: PushOperation {
    static let kind = "push-contact"
    let name: String

    var objects: [ObjectKey] { [PushApp.contacts.place(name)] }
    var effect: Effect? { .write(name, of: "files") }
}

/// Adds one line to a ledger; two of them would be one too many.
struct AddCharge: PushOperation {
    static let kind = "add-charge"
    let charge: String
}

/// An app that edits contacts and adds charges for ever, and pushes all of it over HTTP.
struct PushApp: Sendable {
    static let contacts = Store.Collection<Contact>("contacts")
    /// The charges that were made here, to be compared with the cloud's.
    static let charges = Store.Collection<Bool>("charges")
    static let names = ["ann", "bob", "cid"]

    let store: Store
    let queue: PushQueue

    /// - Parameter isShared: Whether other processes work on the same file.
    init(path: String, server: URL, isShared: Bool) throws {
        var options = Store.Options()
        options.processes = isShared ? .several : .one
        store = try Store(.file(path), options: options)
        let cloud = ContactCloud(server: server, store: store)
        var pipeline = Pipeline(order: .flat, maxConcurrent: 4)
            .on(PushContact.self) { push, run in try await cloud.push(push, run) }
            .on(AddCharge.self) { add, run in try await cloud.add(add, run) }
        pipeline.backoff = Backoff(delayMin: .milliseconds(1), delayMax: .milliseconds(20))
        pipeline.interruptionsMax = .max
        var queueOptions = PushQueue.Options()
        // Another process takes over soon after this one is killed.
        queueOptions.lease = .milliseconds(100)
        queue = try PushQueue(store, options: queueOptions, pipelines: [pipeline])
    }

    /// Changes something, and enqueues what the cloud has to know, in one transaction.
    func edit(using random: inout some RandomNumberGenerator) async throws {
        let name = Self.names.randomElement(using: &random)
        let isCharge = Int.random(in: 0..<3, using: &random) == 0
        let isRefused = Int.random(in: 0..<10, using: &random) == 0
        do {
            try await store.write { transaction in
                if let name {
                    let old = try transaction.get(name, in: Self.contacts)
                    let new = Contact(version: (old?.version ?? 0) + 1)
                    try transaction.set(new, for: name, in: Self.contacts)
                    try transaction.enqueue(PushContact(name: name))
                }
                if isCharge {
                    let charge = "\(transaction.commit)"
                    try transaction.set(true, for: charge, in: Self.charges)
                    try transaction.enqueue(AddCharge(charge: charge))
                }
                if isRefused { throw Refusal() }
            }
        } catch is Refusal {}
    }

    private struct Refusal: Error {}

    /// Waits until nothing is left to push.
    func drain() async throws {
        while try await store.read({ try !$0.operations().isEmpty }) {
            let commit = try await store.read { $0.lastCommit }
            try await queue.finish(through: commit)
        }
    }
}

/// The app's side of a cloud that knows ETags and idempotency keys.
struct ContactCloud: Sendable {
    let server: URL
    let store: Store

    func push(_ push: PushContact, _ run: OperationRun) async throws -> Outcome {
        let (contact, tag) = try await store.read { transaction in
            (
                try transaction.get(push.name, in: PushApp.contacts),
                try transaction.tag(for: push.name)?.text
            )
        }
        guard let contact else { return .skipped(reason: "it is gone") }
        let key = run.operation.idempotencyKey
        // The last try may have done it, and its answer may be lost.
        if run.operation.mayHaveRun, let tag = try await currentTag(of: push.name, writtenBy: key) {
            return .completed { try $0.setTag(.string(Key(tag)), for: push.name) }
        }
        var request = request("PUT", "contacts/\(push.name)", key)
        request.httpBody = try JSONEncoder().encode(contact)
        if let tag {
            request.setValue(tag, forHTTPHeaderField: "If-Match")
        } else {
            request.setValue("*", forHTTPHeaderField: "If-None-Match")
        }
        let (_, response) = try await send(request)
        switch response.statusCode {
        case 200, 201:
            guard let tag = response.value(forHTTPHeaderField: "ETag") else {
                return .retry(reason: "an answer without a tag")
            }
            return .completed { try $0.setTag(.string(Key(tag)), for: push.name) }
        case 412: return .conflict(reason: "\(push.name) has another tag than \(tag ?? "none")")
        default: return .retry(after: .milliseconds(1), reason: "\(response.statusCode)")
        }
    }

    func add(_ add: AddCharge, _ run: OperationRun) async throws -> Outcome {
        var request = request("POST", "charges", run.operation.idempotencyKey)
        request.httpBody = Data(add.charge.utf8)
        let (_, response) = try await send(request)
        guard response.statusCode == 200 else {
            return .retry(after: .milliseconds(1), reason: "\(response.statusCode)")
        }
        return .completed
    }

    private func currentTag(of name: String, writtenBy key: String) async throws -> String? {
        let (_, response) = try await send(request("GET", "contacts/\(name)", key))
        guard response.value(forHTTPHeaderField: "Last-Key") == key else { return nil }
        return response.value(forHTTPHeaderField: "ETag")
    }

    private func request(_ method: String, _ path: String, _ key: String) -> URLRequest {
        var request = URLRequest(url: server.appending(path: path))
        request.httpMethod = method
        request.setValue(key, forHTTPHeaderField: "Idempotency-Key")
        return request
    }

    /// Foundation's `data(for:)` can wait for itself on Linux, if its task is cancelled while the answer
    /// comes: the request goes on instead.
    private func answer(to request: URLRequest) async throws -> (Data, URLResponse) {
        try await withCheckedThrowingContinuation { continuation in
            let task = URLSession.shared.dataTask(with: request) { data, response, error in
                if let data, let response {
                    continuation.resume(returning: (data, response))
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }
            task.resume()
        }
    }

    private func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await answer(to: request)
        if request.httpMethod != "GET" { say("answered") }
        guard let response = response as? HTTPURLResponse else {
            throw URLError(.badServerResponse)
        }
        return (data, response)
    }
}
