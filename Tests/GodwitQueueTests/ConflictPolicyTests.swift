import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

private struct Poll: Codable, Equatable, Identifiable, Sendable, MergePolicyProviding {
    static var mergePolicy: MergePolicy {
        var policy = MergePolicy(version: 1)
        policy.set(.max, at: "/votes")
        return policy
    }

    var id: String
    var votes: Int
}

private let polls = Store.Collection<Poll>("polls")

private struct UploadPoll: PushOperation {
    static let kind = "upload-poll"
    let id: String
    var objects: [ObjectKey] { [polls.place(id)] }
}

/// Merges with a cloud's version, by the rules of the object's type.
@Suite struct ConflictPolicyTests {
    @Test(.timeLimit(.minutes(Soak.minutesMax)), arguments: [true, false])
    func `a conflict with a cloud is merged by the rules of the object's type`(
        hasRules: Bool
    ) async throws {
        var options = Store.Options()
        if hasRules { options.collections = [CollectionRules(polls)] }
        let store = try Store(.memory, options: options)
        let theirs = Poll(id: "a", votes: 7)
        let pipeline = Pipeline().on(UploadPoll.self) { upload, run in
            if run.operation.attempts > 0 { return .completed }
            let value = try await store.read { try $0.value(of: theirs, for: "a", in: polls) }
            return .conflict(theirs: value, reason: "412")
        }
        var queueOptions = PushQueue.Options()
        queueOptions.monitor = ConstantConditions()
        let queue = try PushQueue(store, options: queueOptions, pipelines: [pipeline])
        try await store.write { try $0.set(Poll(id: "a", votes: 1), in: polls) }
        let upload = try await store.write { transaction in
            try transaction.update("a", in: polls) { $0.votes = 5 }
            return try transaction.enqueue(UploadPoll(id: "a"))
        }
        let running = Task { try await queue.run() }
        defer { running.cancel() }
        if hasRules {
            #expect(try await queue.result(of: upload) == .completed)
            #expect(try await store.read { try $0.get("a", in: polls) } == theirs)
        } else {
            // Both sides have changed the number, and nothing says which one counts.
            try await queue.statuses(of: upload).reaches { $0 == .conflict }
        }
    }
}
