// Which dependencies of the operations of one graph can be kept.
//
// CloudCore checks a graph for circles when it is made, and not when an operation is changed or
// inserted later: a file may hold a circle, and CloudCore stops the program at each launch then. Such
// an operation must not stop the import.
//
//   (1) Operations that wait for nothing are taken away until none is left, or only circles and what
//       waits for them.
//   (2) From an operation that is left, the way along its needs comes to one that it has met before.
//       The dependency that leads there closes a circle: it is dropped, and (1) goes on.

internal import Foundation

/// The operations of a graph, and what each needs among them.
struct GraphPlan {
    typealias Edge = YapDatabaseImport.Report.DroppedDependency

    private let needs: [UUID: Set<UUID>]
    private var dependents: [UUID: [UUID]] = [:]
    private let order: [UUID]
    /// In the order in which they were found.
    private(set) var dropped: [Edge] = []
    private var edges: Set<Edge> = []

    /// - Parameter operations: In their order; needs outside of the graph do not count.
    init(_ operations: [(id: UUID, needs: [UUID])]) {
        let ids = Set(operations.map(\.id))
        order = operations.map(\.id)
        needs = Dictionary(operations.map { ($0.id, Set($0.needs).intersection(ids)) }) { $1 }
        for (id, needs) in needs {
            for need in needs { dependents[need, default: []].append(id) }
        }
        dropCircles()
    }

    func isDropped(_ need: UUID, of operation: UUID) -> Bool {
        edges.contains(Edge(operation: operation, need: need))
    }

    private mutating func dropCircles() {
        var left = needs
        var free = order.filter { left[$0]?.isEmpty ?? true }
        var rest = order[...]
        while !left.isEmpty {
            while let id = free.popLast() {
                guard left.removeValue(forKey: id) != nil else { continue }
                for dependent in dependents[id] ?? [] where left[dependent] != nil {
                    left[dependent]?.remove(id)
                    if left[dependent]?.isEmpty == true { free.append(dependent) }
                }
            }
            rest = rest.drop { left[$0] == nil }
            guard let start = rest.first, let edge = Self.closing(from: start, in: left) else {
                return
            }
            dropped.append(edge)
            edges.insert(edge)
            left[edge.operation]?.remove(edge.need)
            if left[edge.operation]?.isEmpty == true { free.append(edge.operation) }
        }
    }

    /// The first dependency on the way from an operation that leads back to the way.
    private static func closing(from start: UUID, in left: [UUID: Set<UUID>]) -> Edge? {
        var met: Set<UUID> = [start]
        var operation = start
        while let need = left[operation]?.min(by: { $0.uuidString < $1.uuidString }) {
            guard met.insert(need).inserted else { return Edge(operation: operation, need: need) }
            operation = need
        }
        return nil
    }
}
