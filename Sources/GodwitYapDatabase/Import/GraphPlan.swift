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
    private var needs: [UUID: [UUID]]
    private var dependents: [UUID: [UUID]] = [:]
    private let order: [UUID]
    private(set) var dropped: [(operation: UUID, need: UUID)] = []

    /// - Parameter operations: In their order; needs outside of the graph do not count.
    init(_ operations: [(id: UUID, needs: [UUID])]) {
        let ids = Set(operations.map(\.id))
        order = operations.map(\.id)
        needs = Dictionary(
            operations.map {
                ($0.id, Array(Set($0.needs.filter(ids.contains))).sorted(by: Self.isBefore))
            }
        ) { first, _ in first }
        for (id, needs) in needs {
            for need in needs { dependents[need, default: []].append(id) }
        }
        dropCircles()
    }

    func isDropped(_ need: UUID, of operation: UUID) -> Bool {
        dropped.contains { $0.operation == operation && $0.need == need }
    }

    private static func isBefore(_ left: UUID, _ right: UUID) -> Bool {
        left.uuidString < right.uuidString
    }

    private mutating func dropCircles() {
        var left = needs
        var free = order.filter { left[$0]?.isEmpty ?? true }
        var rest = order[...]
        while !left.isEmpty {
            while let id = free.popLast() {
                guard left.removeValue(forKey: id) != nil else { continue }
                for dependent in dependents[id] ?? [] where left[dependent] != nil {
                    left[dependent]?.removeAll { $0 == id }
                    if left[dependent]?.isEmpty == true { free.append(dependent) }
                }
            }
            rest = rest.drop { left[$0] == nil }
            guard let start = rest.first else { return }
            let (operation, need) = Self.closing(from: start, in: left)
            dropped.append((operation, need))
            left[operation]?.removeAll { $0 == need }
            if left[operation]?.isEmpty == true { free.append(operation) }
        }
    }

    /// The first dependency on the way from an operation that leads back to the way.
    private static func closing(
        from start: UUID,
        in left: [UUID: [UUID]]
    ) -> (operation: UUID, need: UUID) {
        var met: Set<UUID> = [start]
        var operation = start
        while let need = left[operation]?.first {
            guard met.insert(need).inserted else { return (operation, need) }
            operation = need
        }
        preconditionFailure("An operation that is left needs another one that is left")
    }
}
