import GodwitQueue
import GodwitStore

/// Writes a path, or deletes a folder.
struct Put: PushOperation {
    static let kind = "put"
    var path = "/a"
    var isTree = false
    var footprint: Footprint { isTree ? .deleteTree(RemotePath(path)) : .put(RemotePath(path)) }
}

/// Tests of two pipelines that write to the same paths.
protocol TwoPipelineSuite {}

extension TwoPipelineSuite {
    static var ordered: String { "ordered" }
    static var flat: String { "flat" }

    /// - Parameter order: That of the first one.
    func pipelines(_ order: Pipeline.Order = .commit) -> [Pipeline] {
        [Pipeline(Self.ordered, order: order), Pipeline(Self.flat, order: .flat)]
    }

    func enqueue(
        _ pipeline: String,
        _ path: String = "/a",
        after dependencies: [Dependency] = [],
        in store: Store
    ) async throws -> OperationID {
        try await store.write { transaction in
            let placement = Placement(pipeline: pipeline, dependencies: dependencies)
            return try transaction.enqueue(Put(path: path), placement)
        }
    }

    func needs(_ id: OperationID, in store: Store) async throws -> Set<OperationID> {
        Set(try await store.read { try $0.dependencies(of: id) })
    }

    /// What an operation needs, directly or not.
    func reach(_ id: OperationID, in store: Store) async throws -> Set<OperationID> {
        Set(try await store.read { try $0.recursiveDependencies(of: id) })
    }
}
