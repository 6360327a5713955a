import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Tags, and what objects are attached to.
@Suite struct TagConformanceTests {
    let store: Store
    let contacts = Store.Collection<String>("contacts")
    let robbie = ObjectKey(collection: "contacts", key: "robbie")

    init() throws { store = try Store(.memory) }

    @Test func `C90 a tag is set, read, listed and removed, and keeps its type`() async throws {
        let values: [Value] = [.string("\"etag\""), .int(7), .double(1.5), .bytes([0, 255])]
        for value in values {
            try await store.write { try $0.setTag(value, for: "/a") }
            let found3 = try await store.read { try $0.tag(for: "/a") }
            #expect(found3 == value)
        }
        try await store.write { try $0.setTag(.int(8), for: "/a", identifier: "meta") }
        let tags = try await store.read { try $0.tags(for: "/a") }
        #expect(tags == ["": .bytes([0, 255]), "meta": .int(8)])
        try await store.write { try $0.setTag(nil, for: "/a") }
        let found4 = try await store.read { try $0.tag(for: "/a") }
        #expect(found4 == nil)
        await #expect(throws: QueueError.unsuitableTag(true)) {
            try await store.write { try $0.setTag(true, for: "/a") }
        }
    }

    @Test func `C91★ removing all tags of a key is seen everywhere, and is a commit`()
        async throws
    {
        try await store.write { try $0.setTag(.int(1), for: "/a") }
        let before = try await store.read { $0.lastCommit }
        try await store.write { try $0.removeTags(for: "/a") }
        let found5 = try await store.read { try $0.tags(for: "/a") }
        #expect(found5 == [:])
        let found6 = try await store.read { $0.lastCommit }
        #expect(found6 == before.next)
    }

    @Test func `C92 C95 a tag belongs to its transaction`() async throws {
        struct Refusal: Error {}
        try await store.write { try $0.setTag(.int(1), for: "/a") }
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.setTag(.int(2), for: "/a")
                #expect(try transaction.tag(for: "/a") == .int(2))
                throw Refusal()
            }
        }
        let found7 = try await store.read { try $0.tag(for: "/a") }
        #expect(found7 == .int(1))
    }

    @Test func `C93 attaching twice is attaching once, and may come before the object`()
        async throws
    {
        try await store.write { transaction in
            try transaction.attach("/a", to: robbie)
            try transaction.attach("/a", to: robbie)
            try transaction.attach("/b", to: robbie)
            try transaction.detach("/b", from: robbie)
            try transaction.set("Robbie", for: "robbie", in: contacts)
        }
        let found8 = try await store.read { try $0.attachments(of: robbie) }
        #expect(found8 == ["/a"])
        let found9 = try await store.read { try $0.objects(attachedTo: "/a") }
        #expect(found9 == [robbie])
        try await store.write { transaction in
            try transaction.attach("/c", to: ObjectKey(collection: "contacts", key: "nobody"))
        }
        let found10 = try await store.read { try $0.objects(attachedTo: "/c") }
        #expect(found10 == [])
    }

    @Test func `C94★ what is removed is detached, and its successor is not attached`()
        async throws
    {
        try await store.write { transaction in
            try transaction.set("Robbie", for: "robbie", in: contacts)
            try transaction.attach("/a", to: robbie)
        }
        try await store.write { try $0.remove("robbie", in: contacts) }
        try await store.write { try $0.set("Robbie", for: "robbie", in: contacts) }
        let found11 = try await store.read { try $0.attachments(of: robbie) }
        #expect(found11 == [])
    }

    @Test func `C95 a rollback takes attachments back`() async throws {
        struct Refusal: Error {}
        try await store.write { try $0.set("Robbie", for: "robbie", in: contacts) }
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.attach("/a", to: robbie)
                throw Refusal()
            }
        }
        let found12 = try await store.read { try $0.attachments(of: robbie) }
        #expect(found12 == [])
    }
}
