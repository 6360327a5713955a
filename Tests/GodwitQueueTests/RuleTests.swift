import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// Orders that an app asks for between two types of operations, whichever was enqueued first.
@Suite struct RuleTests {
    struct UploadAvatar: GodwitQueue.Operation {
        static let kind = "avatar"
        let user: String
        var host: String? { "pictures" }
    }

    struct UploadUser: GodwitQueue.Operation {
        static let kind = "user"
        let id: String
        var path: String?
        var footprint: Footprint { path.map { .put(RemotePath($0)) } ?? .none }
        var host: String? { "people" }
    }

    private static let rule = DependencyRule(
        UploadAvatar.self,
        { $0.user },
        before: UploadUser.self,
        { $0.id }
    )

    private let store: Store

    init() throws { store = try Store(.memory) }

    private func queue(_ order: Pipeline.Order, _ log: Log = Log()) throws -> PushQueue {
        var pipeline = Pipeline(order: order)
            .on(UploadAvatar.self) { avatar, _ in
                log.append("avatar \(avatar.user)")
                return .completed
            }
            .on(UploadUser.self) { user, _ in
                log.append("user \(user.id)")
                return .completed
            }
        pipeline.rules = [Self.rule]
        return try PushQueue(store, pipelines: [pipeline])
    }

    private func needs(_ id: OperationID) async throws -> [RecordedDependency] {
        try await store.read { try $0.recordedDependencies(of: id) }
    }

    @Test(arguments: [Pipeline.Order.commit, .flat])
    func `an avatar goes before its user, whichever was enqueued first`(
        order: Pipeline.Order
    ) async throws {
        let queue = try queue(order)
        let (first, second, ann, bob) = try await store.write { transaction in
            let first = try transaction.enqueue(UploadUser(id: "ann"))
            let ann = try transaction.enqueue(UploadAvatar(user: "ann"))
            let bob = try transaction.enqueue(UploadAvatar(user: "bob"))
            return (first, try transaction.enqueue(UploadUser(id: "bob")), ann, bob)
        }
        let derived = { (id: OperationID) in
            RecordedDependency(id: id, policy: .wait, isExplicit: false, isDerived: true)
        }
        #expect(try await needs(first) == [derived(ann)])
        #expect(try await needs(second) == [derived(bob)])
        #expect(try await needs(ann).isEmpty)
        _ = queue
    }

    @Test func `every order of enqueuing is run in the order of the rule`() async throws {
        let names = ["avatar ann", "user ann", "avatar bob", "user bob"]
        for order in [Pipeline.Order.commit, .flat] {
            for names in permutations(of: names) {
                let log = Log()
                let queue = try queue(order, log)
                let commit = try await store.write { transaction in
                    for name in names {
                        let user = String(name.suffix(3))
                        if name.hasPrefix("avatar") {
                            try transaction.enqueue(UploadAvatar(user: user))
                        } else {
                            try transaction.enqueue(UploadUser(id: user))
                        }
                    }
                    return transaction.commit
                }
                try await queue.running { try await queue.finish(through: commit) }
                let done = log.entries
                #expect(done.count == 4, "\(names)")
                for user in ["ann", "bob"] {
                    let avatar = try #require(done.firstIndex(of: "avatar \(user)"))
                    let record = try #require(done.firstIndex(of: "user \(user)"))
                    #expect(avatar < record, "\(names)")
                }
            }
        }
    }

    @Test func `in flat order a user waits for the avatar of a later commit`() async throws {
        let queue = try queue(.flat)
        let user = try await store.write { try $0.enqueue(UploadUser(id: "ann")) }
        let avatar = try await store.write { try $0.enqueue(UploadAvatar(user: "ann")) }
        #expect(try await needs(user).map(\.id) == [avatar])
        _ = queue
    }

    @Test func `in commit order a user does not wait for the avatar of a later commit`()
        async throws
    {
        let queue = try queue(.commit)
        let user = try await store.write { try $0.enqueue(UploadUser(id: "ann")) }
        try await store.write { _ = try $0.enqueue(UploadAvatar(user: "ann")) }
        #expect(try await needs(user).isEmpty)
        _ = queue
    }

    @Test func `a rule outweighs the order in which two write one path`() async throws {
        struct UploadFile: GodwitQueue.Operation {
            static let kind = "file"
            var footprint: Footprint { .put("/ann") + .resource("ann", .ahead) }
        }
        struct UploadIndex: GodwitQueue.Operation {
            static let kind = "index"
            var footprint: Footprint { .put("/ann") + .resource("ann", .behind) }
        }
        let queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
        let (index, file) = try await store.write { transaction in
            (try transaction.enqueue(UploadIndex()), try transaction.enqueue(UploadFile()))
        }
        #expect(try await needs(index).map(\.id) == [file])
        #expect(try await needs(file).isEmpty)
        _ = queue
    }

    @Test func `a rule that contradicts a dependency is a circle, and changes nothing`()
        async throws
    {
        let queue = try queue(.flat)
        let user = try await store.write { try $0.enqueue(UploadUser(id: "ann")) }
        await #expect(throws: QueueError.self) {
            try await store.write { try $0.enqueue(UploadAvatar(user: "ann"), after: [user]) }
        }
        #expect(try await store.read { try $0.operations().map(\.id) } == [user])
        #expect(try await needs(user).isEmpty)
        _ = queue
    }

    @Test func `an operation that runs is not stopped by a late avatar`() async throws {
        let cloud = HandCloud()
        var pipeline = cloud.pipeline(order: .flat)
        pipeline.rules = [
            DependencyRule(Upload.self, { $0.name == "avatar" ? "ann" : nil }, before: Upload.self)
            {
                $0.name == "user" ? "ann" : nil
            }
        ]
        let queue = try PushQueue(store, pipelines: [pipeline])
        try await queue.running {
            let user = try await store.write { try $0.enqueue(Upload(name: "user")) }
            await cloud.starts()
            let avatar = try await store.write { try $0.enqueue(Upload(name: "avatar")) }
            await cloud.starts()
            let needed = try await needs(user)
            #expect(needed.isEmpty)
            cloud.answer("user")
            cloud.answer("avatar")
            let fates = try await (queue.fate(of: user), queue.fate(of: avatar))
            #expect(fates == (.completed, .completed))
        }
    }
}

/// What was done, in order.
final class Log: Sendable {
    private let list = Mutex<[String]>([])

    var entries: [String] { list.withLock { $0 } }

    func append(_ entry: String) { list.withLock { $0.append(entry) } }
}

/// All orders of some elements.
func permutations<Element>(of elements: [Element]) -> [[Element]] {
    guard let last = elements.last else { return [[]] }
    return permutations(of: Array(elements.dropLast())).flatMap { rest in
        (0...rest.count).map { index in
            var order = rest
            order.insert(last, at: index)
            return order
        }
    }
}
