import Foundation
import Testing

@testable import GodwitYapDatabase

/// Which dependencies of a graph are kept.
@Suite struct GraphPlanTests {
    /// Every graph of four operations, whichever of them need whichever others.
    @Test func `of every graph, so few dependencies are dropped that none is left to drop`() {
        let ids = (1...4).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }
        let pairs = (0..<4).flatMap { from in
            (0..<4).filter { $0 != from }.map { (from, $0) }
        }
        for choice in 0..<(1 << pairs.count) {
            let edges = pairs.indices.filter { choice >> $0 & 1 == 1 }.map { pairs[$0] }
            let operations = (0..<4).map { index in
                (id: ids[index], needs: edges.filter { $0.0 == index }.map { ids[$0.1] })
            }
            let plan = GraphPlan(operations)
            let kept = edges.filter { !plan.isDropped(ids[$0.1], of: ids[$0.0]) }
            #expect(isFree(kept), "\(edges)")
            if isFree(edges) { #expect(plan.dropped.isEmpty) }
            for edge in plan.dropped {
                let from = ids.firstIndex(of: edge.operation) ?? 0
                let to = ids.firstIndex(of: edge.need) ?? 0
                #expect(reaches(to, from, along: edges), "\(from) → \(to) closes no circle")
            }
        }
    }

    @Test func `a long chain and what is needed outside of the graph keep everything`() {
        let ids = (0..<20_000).map { _ in UUID() }
        let operations = ids.indices.map { index in
            (id: ids[index], needs: [index > 0 ? ids[index - 1] : UUID(), UUID()])
        }
        #expect(GraphPlan(operations.reversed()).dropped.isEmpty)
    }

    private func isFree(_ edges: [(Int, Int)]) -> Bool {
        edges.allSatisfy { !reaches($0.1, $0.0, along: edges) }
    }

    private func reaches(_ start: Int, _ end: Int, along edges: [(Int, Int)]) -> Bool {
        var (seen, left) = (Set([start]), [start])
        while let place = left.popLast() {
            if place == end { return true }
            for edge in edges where edge.0 == place && seen.insert(edge.1).inserted {
                left.append(edge.1)
            }
        }
        return false
    }
}
