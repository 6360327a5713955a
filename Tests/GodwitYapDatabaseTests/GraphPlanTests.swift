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
            #expect(plan.order.sorted() == [0, 1, 2, 3])
            for (from, to) in kept {
                let places = [from, to].map { plan.order.firstIndex(of: $0) ?? -1 }
                #expect(places[1] < places[0], "\(from) comes before \(to), which it needs")
            }
            if edges.allSatisfy({ $0.1 < $0.0 }) { #expect(plan.order == [0, 1, 2, 3]) }
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

    @Test(.timeLimit(.minutes(1)))
    func `a graph of circles is planned in one walk`() {
        let ids = (0..<3_000).map { _ in UUID() }
        let operations = ids.indices.map { index in
            (id: ids[index], needs: [ids[(index + 1) % ids.count]] + ids[..<min(index, 300)])
        }
        let plan = GraphPlan(operations)
        #expect(plan.order.count == ids.count && !plan.dropped.isEmpty)
    }

    @Test func `the report names so many dropped needs, and counts all of them`() {
        var report = YapDatabaseImport.Report()
        let max = YapDatabaseImport.Report.detailsMax
        for _ in 0..<(max + 5) { report.drop(.init(operation: UUID(), need: UUID())) }
        #expect(report.droppedDependencies.count == max)
        #expect(report.operations.droppedDependencies == max + 5 && !report.isComplete)
        report.leaveOut(.init(row: 1, uuid: UUID(), pipeline: "default", reason: "none"))
        for _ in 0..<(max + 5) { report.note(dependent: UUID(), ofLeftOut: 0) }
        #expect(report.leftOutOperations.first?.dependents.count == max)
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
