import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Conflicts over objects whose types JSON does not have: the app can always read what is stored.
@Suite struct TypedConflictTests {
    struct Photo: Codable, Equatable, Sendable {
        var title: String
        var thumbnail: Data
        var price: Decimal
    }

    struct UploadPhoto: PushOperation {
        static let kind = "upload-photo"
        var objects: [ObjectKey] { [ObjectKey(collection: "photos", key: "1")] }
    }

    private let photos = Store.Collection<Photo>("photos")
    private let photo = Photo(title: "old", thumbnail: Data([1, 2, 255]), price: 12.5)

    /// Pushes a new title to a cloud that answers once with a conflict.
    ///
    /// - Returns: The store, its queue, and the operation that was in conflict.
    private func push(
        against theirs: Value,
        rules: Bool = true
    ) async throws -> (Store, PushQueue, OperationID) {
        var options = Store.Options()
        if rules { options.collections = [CollectionRules(photos)] }
        let store = try Store(.memory, options: options)
        let (photos, photo) = (photos, photo)
        try await store.write { try $0.set(photo, for: "1", in: photos) }
        let id = try await store.write { transaction in
            try transaction.update("1", in: photos) { $0.title = "new" }
            return try transaction.enqueue(UploadPhoto())
        }
        let pipeline = Pipeline().on(UploadPhoto.self) { _, run in
            run.operation.attempts == 0 ? .conflict(theirs: theirs, reason: "412") : .completed
        }
        return (store, try PushQueue(store, pipelines: [pipeline]), id)
    }

    private func json(_ photo: Photo) throws -> Value {
        try Value(json: Array(try JSONEncoder().encode(photo)))
    }

    @Test func `JSON with a new thumbnail merges into an object that the app can read`()
        async throws
    {
        var theirs = photo
        theirs.thumbnail = Data([3])
        let (store, queue, id) = try await push(against: try json(theirs))
        try await queue.running {
            let fate = try await queue.result(of: id)
            #expect(fate == .completed)
        }
        let (photos, merged) = (photos, Photo(title: "new", thumbnail: Data([3]), price: 12.5))
        #expect(try await store.read { try $0.get("1", in: photos) } == merged)
        let value = try await store.read { try $0.value(of: photos.place("1")) }
        #expect(value?["thumbnail"] == .bytes([3]), "stored as the type writes it")
        try store.close()
    }

    @Test func `JSON with the same thumbnail is no edit of it`() async throws {
        let (store, queue, id) = try await push(against: try json(photo))
        try await queue.running {
            let fate = try await queue.result(of: id)
            #expect(fate == .completed)
        }
        let value = try await store.read { try $0.value(of: photos.place("1")) }
        #expect(value?["thumbnail"] == .bytes([1, 2, 255]))
        try store.close()
    }

    @Test func `a merge that the app could not read waits for a person`() async throws {
        let theirs: Value = ["title": "old", "thumbnail": "?", "price": 12.5]
        let (store, queue, id) = try await push(against: theirs)
        let photos = photos
        try await queue.running {
            try await queue.statuses(of: id).reaches { $0 == .conflict }
            let object = try await store.read { try $0.get("1", in: photos) }
            #expect(object?.title == "new" && object?.thumbnail == photo.thumbnail)
            await #expect(throws: StoreError.self) {
                try await store.write { try $0.resolveConflict(of: id, .take(theirs)) }
            }
            let conflict = try await store.read { try $0.conflict(of: id) }
            #expect(conflict?.theirs == theirs, "still there, and as it came")
            try await store.write { try $0.resolveConflict(of: id, .take(conflict?.ours)) }
            #expect(try await queue.result(of: id) == .completed)
        }
        try store.close()
    }

    struct List: Codable, Equatable, Sendable, Defaulted {
        var title: String
        var isDone = false
        var items: [Item] = []
        static let defaults = List(title: "")
    }

    struct Item: Codable, Equatable, Sendable {
        var name: String
    }

    /// Has an older app push a new title, against what a newer one has in the cloud.
    private func merge(_ mine: Value, _ theirs: Value) async throws -> Value? {
        let lists = Store.Collection<List>("photos")
        var options = Store.Options()
        options.collections = [CollectionRules(lists)]
        let store = try Store(.memory, options: options)
        try await store.write { try $0.setValue(mine, of: lists.place("1")) }
        let id = try await store.write { transaction in
            try transaction.edit("1", in: lists) { $0.title = "new" }
            return try transaction.enqueue(UploadPhoto())
        }
        let pipeline = Pipeline().on(UploadPhoto.self) { _, run in
            run.operation.attempts == 0 ? .conflict(theirs: theirs, reason: "412") : .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        try await queue.running { _ = try await queue.result(of: id) }
        let merged = try await store.read { try $0.value(of: lists.place("1")) }
        try store.close()
        return merged
    }

    @Test func `fields that the type does not know stay, in items of lists too`() async throws {
        let items: Value = [["name": "a", "color": "red"], ["name": "b", "color": "blue"]]
        let mine: Value = ["title": "old", "isDone": false, "items": items, "note": "n"]
        let theirs: Value = ["title": "old", "isDone": true, "items": items, "note": "n"]
        let merged = try await merge(mine, theirs)
        #expect(merged == ["title": "new", "isDone": true, "items": items, "note": "n"])
    }

    @Test func `a field that is missing on both sides is no edit`() async throws {
        let merged = try await merge(["title": "old", "items": []], ["title": "old", "items": []])
        #expect(merged == ["title": "new", "items": []])
    }

    @Test func `without rules a thumbnail in Base64 is still read`() async throws {
        var theirs = photo
        theirs.thumbnail = Data([3])
        let (store, queue, id) = try await push(against: try json(theirs), rules: false)
        try await queue.running {
            let fate = try await queue.result(of: id)
            #expect(fate == .completed)
        }
        let photos = photos
        let merged = try await store.read { try $0.get("1", in: photos) }
        #expect(merged?.thumbnail == Data([3]))
        try store.close()
    }
}
