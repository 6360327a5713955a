import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

// The code of Documentation/pushing-to-a-cloud.md: whatever stands there stands here, and runs.

struct MyContact: Codable, Hashable, Sendable {
    var firstName: String
    var lastName: String
    var phone: String?
}

let myContacts = Store.Collection<MyContact>("contacts")

struct UploadMyContact: PushOperation {
    static let kind = "upload-contact"
    let contact: String

    var path: String { "/contacts/\(contact).json" }
    var host: String? { "api.foobar.example" }
    var objects: [ObjectKey] { [myContacts.place(contact)] }
    var effect: Effect? { .write(contact, of: "contacts") }
}

func fooBarPipeline(_ store: Store, _ cloud: FooBarCloud) -> Pipeline {
    Pipeline(order: .flat).on(UploadMyContact.self) { upload, run in
        let (contact, tag) = try await store.read { transaction in
            (
                try transaction.get(upload.contact, in: myContacts),
                try transaction.tag(for: upload.path)
            )
        }
        guard let contact else { return .skipped(reason: "the contact is gone") }

        let key = run.operation.idempotencyKey
        let body = try JSONEncoder().encode(contact)
        let answer = try await cloud.put(upload.path, body, ifMatch: tag?.text, key: key)
        run.record(request: "PUT \(upload.path)", response: "\(answer.status)")

        switch answer.status {
        case 200, 201:
            return .completed { transaction in
                try transaction.setTag(answer.tag, for: upload.path)
            }
        case 412:
            let newest = try await cloud.get(upload.path)
            let theirs = try JSONDecoder().decode(MyContact.self, from: Data(newest.body))
            return .conflict(
                theirs: try await store.read {
                    try $0.value(of: theirs, for: upload.contact, in: myContacts)
                },
                tag: CloudTag(newest.tag, for: upload.path),
                reason: "the cloud has another version"
            )
        case 429, 503:
            return .retry(after: answer.retryAfter, slowDown: true, reason: "\(answer.status)")
        case 400..<500:
            return .refused(reason: "the cloud says \(answer.status)")
        default:
            return .retry(reason: "the cloud says \(answer.status)")
        }
    }
}

@Suite struct FooBarCloudTests {
    private let cloud = FooBarCloud()
    private let store: Store
    private let queue: PushQueue

    init() throws {
        let (store, cloud) = (try Store(.memory), cloud)
        let queue = try PushQueue(store, pipelines: [fooBarPipeline(store, cloud)])
        (self.store, self.queue) = (store, queue)
    }

    private func rename() async throws -> OperationID {
        let upload = try await store.write { transaction in
            try transaction.update("robbie", in: myContacts) { $0.firstName = "Robbie" }
            return try transaction.enqueue(UploadMyContact(contact: "robbie"))
        }
        return upload
    }

    /// The contact is here and there, with a tag, before the story begins.
    private func begin() async throws {
        let robby = MyContact(firstName: "Robby", lastName: "Hanson")
        let upload = try await store.write { transaction in
            try transaction.set(robby, for: "robbie", in: myContacts)
            return try transaction.enqueue(UploadMyContact(contact: "robbie"))
        }
        #expect(try await queue.result(of: upload) == .completed)
        #expect(cloud.contact("robbie") == robby)
    }

    @Test func `a contact goes from the edit to 200 OK`() async throws {
        try await queue.running {
            try await begin()
            queue.suspend("the user is on a plane")
            let upload = try await rename()
            let (changes, state, why) = try await (
                store.read { try $0.recordedChanges(of: upload) },
                store.read { try $0.syncState(of: myContacts.place("robbie")) },
                queue.status(of: upload)
            )
            #expect(changes.first?.old?.map?["firstName"] == .string("Robby"))
            #expect(changes.first?.new?.map?["firstName"] == .string("Robbie"))
            #expect(state == .pending([upload]))
            #expect(why == .waiting([.suspended(reason: "the user is on a plane")]))

            queue.resume("the user is on a plane")
            #expect(try await queue.result(of: upload) == .completed)
            #expect(cloud.log == ["PUT none 201", "PUT 1 200"])
            let tag = try await store.read { try $0.tag(for: "/contacts/robbie.json") }
            #expect(tag == .string("2"))
        }
    }

    @Test func `a contact goes through a 412, and both changes stay`() async throws {
        try await queue.running {
            try await begin()
            // Another device has added a telephone number meanwhile.
            cloud.change("robbie") { $0.phone = "555 0123" }
            let upload = try await rename()
            #expect(try await queue.result(of: upload) == .completed)
            let both = MyContact(firstName: "Robbie", lastName: "Hanson", phone: "555 0123")
            #expect(cloud.contact("robbie") == both)
            #expect(try await store.read { try $0.get("robbie", in: myContacts) } == both)
            #expect(cloud.log == ["PUT none 201", "PUT 1 412", "GET", "PUT 2 200"])
        }
    }

    @Test func `what cannot be merged waits for somebody`() async throws {
        try await queue.running {
            try await begin()
            cloud.change("robbie") { $0.firstName = "Robert" }
            let upload = try await rename()
            try await queue.statuses(of: upload).reaches { $0 == .conflict }
            let found = try await store.read { try $0.conflict(of: upload) }
            let conflict = try #require(found)
            #expect(conflict.base?.map?["firstName"] == .string("Robby"))
            #expect(conflict.ours?.map?["firstName"] == .string("Robbie"))
            #expect(conflict.theirs?.map?["firstName"] == .string("Robert"))
            try await store.write { transaction in
                try transaction.resolveConflict(of: upload, .take(conflict.ours))
            }
            #expect(try await queue.result(of: upload) == .completed)
            #expect(cloud.contact("robbie")?.firstName == "Robbie")
        }
    }

    @Test func `a contact is pushed without a call to enqueue`() async throws {
        let push = AutomaticOperations(of: myContacts) { change in
            [UploadMyContact(contact: change.key.key.text)]
        }
        try store.addHook(push, named: "push contacts")
        let ann = MyContact(firstName: "Ann", lastName: "Hanson")
        let commit = try await store.write { transaction in
            try transaction.set(ann, for: "ann", in: myContacts)
            return transaction.commit
        }
        try await queue.running { try await queue.finish(through: commit) }
        #expect(cloud.contact("ann") == ann)
    }

    @Test func `a file goes before the photo that names it`() async throws {
        struct UploadFile: PushOperation {
            static let kind = "file"
            let name: String
        }
        struct UploadPhoto: PushOperation {
            static let kind = "photo"
            let file: String
        }
        let store = try Store(.memory)
        var pipeline = Pipeline(order: .flat)
        pipeline.rules = [
            DependencyRule(UploadFile.self, { $0.name }, before: UploadPhoto.self, { $0.file })
        ]
        let queue = try PushQueue(store, pipelines: [pipeline])
        let (photo, file) = try await store.write { transaction in
            let photo = try transaction.enqueue(UploadPhoto(file: "1.jpg"))
            return (photo, try transaction.enqueue(UploadFile(name: "1.jpg")))
        }
        #expect(try await store.read { try $0.dependencies(of: photo) } == [file])
        _ = queue
    }

    @Test func `every line of Swift in the article stands in this file`() throws {
        let own = URL(filePath: #filePath)
        let root = own.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Documentation/pushing-to-a-cloud.md"),
            encoding: .utf8
        )
        let code = Self.lines(of: try String(contentsOf: own, encoding: .utf8)).joined(
            separator: "\n"
        )
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
        #expect(blocks.count >= 5)
        for block in blocks {
            let lines = Self.lines(of: block.components(separatedBy: "```")[0])
            #expect(code.contains(lines.joined(separator: "\n")), "\(lines.first ?? "")")
        }
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }
}

/// The imaginary cloud of the seed: files with ETags.
final class FooBarCloud: Sendable {
    struct Answer: Sendable {
        var status: Int
        var tag: Value?
        var body: [UInt8] = []
        var retryAfter: Duration?
    }

    private struct State {
        var files: [String: (tag: Int, body: Data)] = [:]
        var log: [String] = []
    }

    private let state = Mutex(State())

    var log: [String] { state.withLock { $0.log } }

    func contact(_ name: String) -> MyContact? {
        let body = state.withLock { $0.files["/contacts/\(name).json"]?.body }
        return body.flatMap { try? JSONDecoder().decode(MyContact.self, from: $0) }
    }

    /// Another device does something.
    func change(_ name: String, _ body: (inout MyContact) -> Void) {
        guard var contact = contact(name) else { return }
        body(&contact)
        guard let data = try? JSONEncoder().encode(contact) else { return }
        state.withLock { state in
            let tag = state.files["/contacts/\(name).json"]?.tag ?? 0
            state.files["/contacts/\(name).json"] = (tag + 1, data)
        }
    }

    func put(_ path: String, _ body: Data, ifMatch tag: String?, key: String) async throws -> Answer
    {
        state.withLock { state in
            let old = state.files[path]
            let status = old.map { "\($0.tag)" == tag ? 200 : 412 } ?? 201
            state.log.append("PUT \(tag ?? "none") \(status)")
            guard status != 412 else { return Answer(status: 412) }
            let new = (old?.tag ?? 0) + 1
            state.files[path] = (new, body)
            return Answer(status: status, tag: .string(Key("\(new)")))
        }
    }

    func get(_ path: String) async throws -> Answer {
        state.withLock { state in
            state.log.append("GET")
            guard let file = state.files[path] else { return Answer(status: 404) }
            return Answer(status: 200, tag: .string(Key("\(file.tag)")), body: Array(file.body))
        }
    }
}
