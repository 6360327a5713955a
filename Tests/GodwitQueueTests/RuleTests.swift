import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// Orders that an app asks for between two types of operations, whichever was enqueued first.
@Suite struct RuleTests {
    struct UploadAvatar: PushOperation {
        static let kind = "avatar"
        let user: String
        var host: String? { "pictures" }
    }

    struct UploadUser: PushOperation {
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
        struct UploadFile: PushOperation {
            static let kind = "file"
            var footprint: Footprint { .put("/ann") + .resource("ann", .ahead) }
        }
        struct UploadIndex: PushOperation {
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

    @Test func `a rule yields to a dependency that says the contrary`() async throws {
        let queue = try queue(.flat)
        let user = try await store.write { try $0.enqueue(UploadUser(id: "ann")) }
        let avatar = try await store.write {
            try $0.enqueue(UploadAvatar(user: "ann"), after: [user])
        }
        #expect(try await needs(user).isEmpty)
        #expect(try await needs(avatar).map(\.id) == [user])
        try await queue.running { _ = try await queue.result(of: avatar) }
    }

    @Test func `a rule yields to an order of paths that says the contrary`() async throws {
        let queue = try touching()
        // The third goes ahead of the first, which the second follows, and follows the second.
        let ids = try await enqueue([
            (["/a"], "ann", false), (["/a", "/b"], "", false), (["/b"], "ann", true),
        ])
        #expect(try await needs(ids[0]).isEmpty)
        #expect(try await needs(ids[1]).map(\.id) == [ids[0]])
        #expect(try await needs(ids[2]).map(\.id).contains(ids[1]))
        _ = queue
    }

    @Test(arguments: [Pipeline.Order.commit, .flat])
    func `a queue that runs starts an avatar that comes right after its user`(
        order: Pipeline.Order
    ) async throws {
        let log = Log()
        let queue = try queue(order, log)
        try await queue.running {
            let user = try await store.write { transaction in
                let user = try transaction.enqueue(UploadUser(id: "ann"))
                try transaction.enqueue(UploadAvatar(user: "ann"))
                return user
            }
            _ = try await queue.result(of: user)
            #expect(log.entries == ["avatar ann", "user ann"])
        }
    }

    // MARK: - Paths and rules together

    private struct Touching: PushOperation {
        static let kind = "touching"
        let paths: [String]
        let thing: String
        let isAhead: Bool
        var footprint: Footprint {
            let intent: Footprint.Intent = isAhead ? .ahead : .behind
            return paths.map { Footprint.put(RemotePath($0)) }
                .reduce(thing.isEmpty ? .none : .resource(thing, intent), +)
        }
    }

    private func touching() throws -> PushQueue {
        try PushQueue(store, pipelines: [Pipeline(order: .flat)])
    }

    /// Enqueues each in a commit of its own.
    private func enqueue(
        _ operations: [(paths: [String], thing: String, isAhead: Bool)]
    ) async throws -> [OperationID] {
        var ids: [OperationID] = []
        for (paths, thing, isAhead) in operations {
            let touching = Touching(paths: paths, thing: thing, isAhead: isAhead)
            ids.append(try await store.write { try $0.enqueue(touching) })
        }
        return ids
    }

    @Test func `one that goes ahead hides no writer that comes after it`() async throws {
        let queue = try touching()
        let ids = try await enqueue([
            (["/a"], "ann", false), (["/a"], "ann", true), (["/a"], "ann", false),
        ])
        let needed = try await store.read { try $0.recursiveDependencies(of: ids[2]) }
        #expect(needed == [ids[0], ids[1]], "all write one path")
        #expect(try await needs(ids[0]).map(\.id) == [ids[1]])
        _ = queue
    }

    @Test func `one that goes ahead sees the writers behind the one that it overtakes`()
        async throws
    {
        let queue = try touching()
        let ids = try await enqueue([
            (["/a"], "", false), (["/a"], "ann", false), (["/a"], "ann", true),
        ])
        #expect(try await needs(ids[2]).map(\.id) == [ids[0]])
        #expect(try await needs(ids[1]).map(\.id).contains(ids[2]))
        _ = queue
    }

    @Test
    func `operations on one path and with rules are done one after the other, whatever comes`()
        async throws
    {
        for seed in 0..<UInt64(300) {
            var random = Seeded(seed: seed)
            let store = try Store(.memory)
            let queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
            var (ids, all): ([OperationID], [Touching]) = ([], [])
            for _ in 0..<Int.random(in: 3...7, using: &random) {
                let touching = Touching(
                    paths: ["/a", "/b"].filter { _ in Bool.random(using: &random) },
                    thing: ["", "ann", "bob"].randomElement(using: &random) ?? "",
                    isAhead: Bool.random(using: &random)
                )
                all.append(touching)
                ids.append(try await store.write { try $0.enqueue(touching) })
            }
            let reach = try await store.read { [ids] transaction in
                try ids.map { try transaction.recursiveDependencies(of: $0) }
            }
            for later in all.indices {
                #expect(!reach[later].contains(ids[later]), "a circle, seed \(seed)")
                for earlier in 0..<later
                where !Set(all[earlier].paths).isDisjoint(with: all[later].paths) {
                    let isOrdered =
                        reach[later].contains(ids[earlier]) || reach[earlier].contains(ids[later])
                    #expect(isOrdered, "\(earlier) and \(later) of seed \(seed)")
                }
            }
            withExtendedLifetime(queue) {}
        }
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
            #expect(needed.map(\.id) == [avatar], "should it be tried again")
            cloud.answer("user")
            cloud.answer("avatar")
            let fates = try await (queue.result(of: user), queue.result(of: avatar))
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
