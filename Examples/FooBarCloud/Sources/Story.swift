import Foundation
import Godwit

// The steps of "YapDatabaseCloudCore", the wiki page that Godwit's queue comes from, with the names that it
// uses: a contact whose first name changes, a graph of four operations, and a photo that blocks nothing.

@main struct Story {
    static func main() async throws {
        try await modifyContact()
        try await runGraph()
        try await keepRecipesMoving()
    }

    /// The contact and what has to be pushed are one transaction, and so are the new tag and the
    /// operation's end.
    static func modifyContact() async throws {
        print("A contact changes, here and on another device")
        let (store, cloud) = (try Store(.memory), FooBarCloud())
        let queue = try PushQueue(store, pipelines: [.uploads(from: store, to: cloud)])
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        try await change(in: store, queue) { $0 = Contact(firstName: "Robby") }

        // Another device adds a number, and has the newer ETag.
        let theirs = try JSONEncoder().encode(Contact(firstName: "Robby", phone: "555-0100"))
        _ = await cloud.put("/contacts/robbie.json", theirs, ifMatch: "\"v1\"", key: "other device")
        try await change(in: store, queue) { $0.firstName = "Robbie" }
        let merged = try await store.read { try $0.get("robbie", in: contacts) }
        print("Merged: \(merged?.firstName ?? ""), \(merged?.phone ?? "")\n")
    }

    private static func change(
        in store: Store,
        _ queue: PushQueue,
        _ body: @escaping @Sendable (inout Contact) -> Void
    ) async throws {
        let id = try await store.write { transaction in
            var contact = try transaction.get("robbie", in: contacts) ?? Contact(firstName: "")
            body(&contact)
            try transaction.set(contact, for: "robbie", in: contacts)
            return try transaction.enqueue(UploadContact(contact: "robbie"))
        }
        _ = try await queue.result(of: id)
    }

    /// opA has the highest priority; opC and opD need opB.
    static func runGraph() async throws {
        print("A graph: opA (priority 100), opB, and opC and opD, which depend on opB")
        let store = try Store(.memory)
        let pipeline = Pipeline(maxConcurrent: 1).on(Upload.self) { upload, _ in
            print("start \(upload.name)")
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let commit = try await store.write { transaction in
            let opB = try transaction.enqueue(Upload(name: "opB"))
            for name in ["opC", "opD"] { try transaction.enqueue(Upload(name: name), after: [opB]) }
            try transaction.enqueue(Upload(name: "opA"), Placement(priority: 100))
            return transaction.commit
        }
        for operation in try await store.read({ try $0.operations(in: "default") }) {
            let upload = try operation.decoded(as: Upload.self)
            let needs = try await store.read { try $0.dependencies(of: operation.id) }
            print("\(upload.name): \(needs.isEmpty ? "free" : "waits for \(needs.count)")")
        }
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        try await queue.finish(through: commit)
        print("")
    }

    /// A photo of eight megabytes goes on while recipes that were saved later are in the cloud already.
    static func keepRecipesMoving() async throws {
        print("Pipelines: a large photo holds up no recipe")
        let store = try Store(.memory)
        let (recipesDone, done) = AsyncStream.makeStream(of: Void.self)
        let photos = Pipeline("photos").on(Upload.self) { upload, _ in
            // The upload takes longer than both recipes.
            for await _ in recipesDone { break }
            print("uploaded \(upload.name)")
            return .completed
        }
        let recipes = Pipeline(maxConcurrent: 1).on(Upload.self) { upload, _ in
            print("uploaded \(upload.name)")
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [photos, recipes])
        var uploads: [OperationID] = []
        for (name, pipeline) in [
            ("photo", "photos"), ("appetizer", "default"), ("cookies", "default"),
        ] {
            let placement = Placement(pipeline: pipeline)
            uploads.append(try await store.write { try $0.enqueue(Upload(name: name), placement) })
        }
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        for recipe in uploads.dropFirst() { _ = try await queue.result(of: recipe) }
        done.yield()
        _ = try await queue.result(of: uploads[0])
    }
}
