// In which order the operations of one graph are enqueued, and which of their dependencies can be kept.
//
// CloudCore checks a graph for circles when it is made, and not when an operation is changed or
// inserted later: a file may hold a circle, and CloudCore stops the program at each launch then. Such
// an operation must not stop the import.
//
//   (1) From each operation, in their order, a walk goes along its needs, the earliest first. An
//       operation is put into the order when all of its needs are in it: so needs always go backwards.
//   (2) A need that lies on the way to the operation closes a circle: it is dropped, and the walk goes
//       on. Each operation and each need is met once.

/// The operations of a graph, what each needs among them, and their order.
struct GraphPlan<ID: Hashable> {
    /// A need that is dropped.
    struct Edge: Hashable {
        let operation: ID
        let need: ID
    }

    /// The places of the operations, so that each comes after those that it needs.
    private(set) var order: [Int] = []
    /// In the order in which they were found.
    private(set) var dropped: [Edge] = []
    private var edges: Set<Edge> = []

    /// - Parameter operations: In their order; needs outside of the graph do not count.
    init(_ operations: [(id: ID, needs: [ID])]) {
        let places = Dictionary(
            operations.enumerated().map { ($1.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let needs = operations.map { operation in
            Set(operation.needs.compactMap { places[$0] }).sorted()
        }
        order.reserveCapacity(operations.count)
        var walk = Walk(needs)
        for place in operations.indices {
            walk.run(from: place, into: &order) { operation, need in
                dropped.append(Edge(operation: operations[operation].id, need: operations[need].id))
            }
        }
        edges = Set(dropped)
    }

    func isDropped(_ need: ID, of operation: ID) -> Bool {
        edges.contains(Edge(operation: operation, need: need))
    }
}

/// A walk along needs, without recursion: a chain may be as long as the file.
private struct Walk {
    private enum Mark { case new, onTheWay, through }

    private let needs: [[Int]]
    private var marks: [Mark]

    init(_ needs: [[Int]]) {
        self.needs = needs
        marks = Array(repeating: .new, count: needs.count)
    }

    mutating func run(
        from start: Int,
        into order: inout [Int],
        drop: (_ operation: Int, _ need: Int) -> Void
    ) {
        guard marks[start] == .new else { return }
        marks[start] = .onTheWay
        var way = [(place: start, next: 0)]
        while let (place, next) = way.last {
            guard next < needs[place].count else {
                marks[place] = .through
                order.append(place)
                way.removeLast()
                continue
            }
            way[way.count - 1].next += 1
            let need = needs[place][next]
            switch marks[need] {
            case .new:
                marks[need] = .onTheWay
                way.append((need, 0))
            case .onTheWay: drop(place, need)
            case .through: break
            }
        }
    }
}
