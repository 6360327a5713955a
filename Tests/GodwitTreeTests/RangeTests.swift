import Testing

@testable import GodwitTree

/// Positions, offsets and numbers at the ends of their ranges.
@Suite struct RangeTests {
    private static let max = ListDelta.positionMax
    private static let edges = [0, 1, max / 2, max - 1, max, max + 1, Int.max, -1, Int.min]

    @Test func `what a composition returns can be read back, whatever its positions are`() {
        let deltas = Self.lists + Self.texts + Self.numbers
        var (composed, refused) = (0, 0)
        for first in deltas {
            checkForms(first)
            for second in deltas {
                do throws(TreeError) {
                    checkForms(try first.composed(with: second))
                    composed += 1
                } catch {
                    refused += 1
                }
            }
        }
        #expect(composed > 1_000 && refused > 1_000)
    }

    @Test func `a composition beyond the last position is refused`() throws {
        let list = try Delta(encoded: [["-": [[0, .int(1 << 40)]]]])
        let text = try Delta(encoded: ["~", 0, .int(1 << 40), ""])
        for delta in [list, text] {
            #expect(throws: TreeError.self) { try delta.composed(with: delta) }
            #expect(try delta.composed(with: .set(1)) == .set(1))
        }
    }

    @Test func `parts beyond the last position are refused`() {
        let last = Self.max
        #expect(throws: TreeError.self) {
            try ListDelta(moves: [.init(source: last, target: 0, count: last)])
        }
        #expect(throws: TreeError.self) {
            try ListDelta(edits: [.init(position: last, delta: .set(1))])
        }
        #expect(throws: TreeError.self) {
            try ListDelta(inserts: [.init(position: last, value: 1)])
        }
        #expect(throws: TreeError.self) { try ListDelta(removes: [.min ..< .max]) }
        #expect(throws: TreeError.self) {
            try Delta.text([.init(offset: last, removed: 1, inserted: "")])
        }
    }

    @Test func `increments wrap at 64 bits, and lead back`() throws {
        let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for first in ends {
            for second in ends {
                let both = try Delta.adding(first).composed(with: .adding(second))
                #expect(both == .adding(first &+ second))
                checkForms(both)
                let sum = try both.applied(to: .int(first))
                #expect(sum == .int(first &+ (first &+ second)))
                #expect(try both.inverted(on: .int(first)).applied(to: sum) == .int(first))
            }
        }
    }

    @Test func `a composition whose value nests too deep is refused`() throws {
        let deep = nested(Value.depthMax - 1)
        let first = Delta.map(["a": .apply(.set([0]))])
        let second = Delta.map([
            "a": .apply(.list(try ListDelta(inserts: [.init(position: 0, value: deep)])))
        ])
        #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) {
            try first.composed(with: second)
        }
    }

    @Test func `the bottom of the deepest value can change, and not grow`() throws {
        let deep = nested(Value.depthMax)
        let edit = (0..<Value.depthMax).reduce(Delta.adding(1)) { delta, _ in
            (try? ListDelta(edits: [.init(position: 0, delta: delta)])).map { .list($0) } ?? .keep
        }
        let grow = (0..<Value.depthMax).reduce(Delta.set([])) { delta, _ in
            (try? ListDelta(edits: [.init(position: 0, delta: delta)])).map { .list($0) } ?? .keep
        }
        #expect(try edit.applied(to: deep) == nested(Value.depthMax, around: 1))
        checkForms(edit)
        #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) { try grow.applied(to: deep) }
    }

    /// List deltas of one or two parts at the edges, as far as they can be made.
    private static let lists: [Delta] = {
        var deltas: [Delta] = []
        func add(_ make: () throws -> ListDelta) {
            if let delta = try? make() { deltas.append(.list(delta.recipe)) }
        }
        for first in edges {
            add { try ListDelta(inserts: [.init(position: first, value: 1)]) }
            add { try ListDelta(edits: [.init(position: first, delta: .set(1))]) }
            for second in edges {
                if first <= second { add { try ListDelta(removes: [first..<second]) } }
                for count in [1, max / 2, max] {
                    add {
                        try ListDelta(moves: [.init(source: first, target: second, count: count)])
                    }
                }
            }
        }
        return deltas
    }()

    private static let texts: [Delta] = edges.flatMap { offset in
        edges.compactMap { removed in
            try? .text([.init(offset: offset, removed: removed, inserted: "x")])
        }
    }

    private static let numbers: [Delta] = [.min, -1, 1, .max].map { .adding($0) }

    private func nested(_ depth: Int, around value: Value = 0) -> Value {
        (0..<depth).reduce(value) { value, _ in [value] }
    }

    private func checkForms(_ delta: Delta) {
        #expect(throws: Never.self) { try Reader.checkForms(delta) }
    }
}
