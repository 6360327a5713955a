import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// What a new version of the app finds that an older one has left.
@Suite struct UpgradeConformanceTests {
    @Test func `C75: another version of the app keeps the queue, and adds to it what it needs`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let first = try Workbench(.file(path))
        _ = try first.queue()
        try await first.enqueue("old")
        try first.store.close()
        // The original empties the queue of another version and has the app fill it anew; what is
        // committed is committed, so here nothing is lost, and the app adds in its own schema step.
        let second = try Workbench(.file(path))
        let queue = try second.queue(order: .flat)
        let ids = try await second.enqueue("new")
        try await queue.running {
            await second.cloud.starts()
            second.cloud.answer("old")
            second.cloud.answer("new")
            let fate = try await queue.result(of: ids[0])
            #expect(fate == .completed)
        }
        #expect(Set(second.cloud.started) == ["old", "new"])
    }

    @Test func `C77: a store that never had a queue gets one when it is asked for`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let numbers = Store.Collection<Int>("numbers")
        let store = try Store(.file(path))
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        #expect(try await store.read { try $0.operations().isEmpty })
        #expect(try await store.read { try $0.tag(for: "a") } == nil)
        try store.close()
        let bench = try Workbench(.file(path))
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            bench.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `C78: an operation may encode itself as it likes`() async throws {
        struct Packed: PushOperation, Equatable {
            static let kind = "packed"
            let left: UInt8
            let right: UInt8

            init(left: UInt8, right: UInt8) { (self.left, self.right) = (left, right) }

            init(from decoder: any Decoder) throws {
                let packed = try decoder.singleValueContainer().decode(UInt16.self)
                self.init(left: UInt8(packed >> 8), right: UInt8(packed & 255))
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(UInt16(left) << 8 | UInt16(right))
            }
        }
        let bench = try Workbench()
        _ = try bench.queue()
        let packed = Packed(left: 3, right: 250)
        let id = try await bench.store.write { try $0.enqueue(packed) }
        let operation = try await bench.operation(id)
        #expect(operation.body == .int(3 << 8 | 250))
        #expect(try operation.decoded(as: Packed.self) == packed)
    }

    @Test func `the suspension of a pipeline that is gone ends, and that of a renamed one stays`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let first = try Workbench(.file(path))
        let names = ["photos", "notes"]
        _ = try first.queue(([Pipeline.defaultName] + names).map { first.cloud.pipeline($0) })
        for name in names {
            try await first.enqueue(name, placement: Placement(pipeline: name))
            try await first.store.write { try $0.suspendPipeline(name, reason: "logged out") }
        }
        // The names of the pipelines are stored when the queue runs.
        try await first.queues[0].running {}
        try first.store.close()
        let second = try Workbench(.file(path))
        let queue = try second.queue([
            second.cloud.pipeline(),
            second.cloud.pipeline("texts", previousNames: ["notes"]),
        ])
        try await queue.running {
            let own = try await second.enqueue("own")[0]
            second.cloud.answer("own")
            second.cloud.answer("photos")
            #expect(try await queue.result(of: own) == .completed)
            let left = try await second.names()
            #expect(left == ["notes"])
            try await second.store.write { try $0.resumePipeline("texts", reason: "logged out") }
            second.cloud.answer("notes")
            try await queue.finish(through: .init(rawValue: .max))
        }
        #expect(Set(second.cloud.started) == ["own", "photos", "notes"])
    }
}
