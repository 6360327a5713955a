import Foundation
import Testing

@testable import GodwitTree

/// Values that an app has built deeper than they may be stored.
@Suite struct DeepTests {
    @Test func `a value of five hundred levels breaks nothing, on a small stack`() async {
        let complaints = await Self.onSmallStack {
            var complaints: [String] = []
            func expect(_ isTrue: Bool, _ what: String) {
                if !isTrue { complaints.append(what) }
            }
            let (deep, same) = (Self.nested(500), Self.nested(500))
            expect(deep == same, "equal")
            expect(deep != Self.nested(499), "not equal")
            expect(deep.hashValue == same.hashValue, "hash")
            expect(deep.digest == same.digest, "digest")
            expect(deep.canonicalBytes == same.canonicalBytes, "bytes")
            expect(deep.description == same.description, "description")
            for indentation in [.min, 1, Int.max] {
                expect(!Self.nested(9).jsonText(indentation: indentation).isEmpty, "indented")
            }
            expect(!deep.jsonText(indentation: 1).isEmpty, "JSON")
            expect(!deep.isNested(within: Value.depthMax), "nested")
            expect(!deep.isNested(within: -1), "nested in less than nothing")
            expect(Delta.diff(deep, same) == .keep, "no difference")
            expect(Delta.diff(deep, Self.nested(499)) != .keep, "a difference")
            expect(!Delta.set(deep).canonicalBytes.isEmpty, "delta")
            expect((try? Delta.set(deep).packed(on: deep)) != nil, "packed delta")
            let sides = (1...3).map { Self.nested(150, in: $0) }
            let merge = Merge(base: sides[0], ours: sides[1], theirs: sides[2])
            expect(merge.conflicts.count == 1, "merge")
            let other = Self.nested(500, in: 2)
            expect(!Delta.diff(deep, other).encoded.description.isEmpty, "delta as data")
            expect(!Delta.diff(deep, other).description.isEmpty, "delta as text")
            return complaints
        }
        #expect(complaints == [])
    }

    @Test func `what is deeper than the limit is refused with a typed error`() throws {
        let deep = Self.nested(500)
        let limit = TreeError.tooDeep(limit: Value.depthMax)
        #expect(throws: limit) { try Value(canonicalBytes: deep.canonicalBytes) }
        #expect(throws: limit) { try Value(json: deep.jsonText()) }
        #expect(throws: limit) { try Value(edn: deep.ednText()) }
        #expect(throws: limit) { try Delta.set(deep).applied(to: 0) }
        #expect(throws: limit) { try Delta(encoded: ["=", deep]) }
        #expect(throws: limit) { try Delta(canonicalBytes: Delta.set(deep).canonicalBytes) }
        #expect(throws: limit) { try (0 as Value).applying(mergePatch: deep) }
        #expect(throws: limit) { try Delta(mergePatch: deep, on: 0) }
        #expect(throws: limit) { try SealedDelta(.set(deep), on: 0) }
        let patch = JSONPatch(operations: [.add(try JSONPointer(""), deep)])
        #expect(throws: limit) { try patch.applied(to: 0) }
        #expect(throws: limit) { try patch.delta(on: 0) }
    }

    @Test func `a change deep in a value that is too deep is refused`() throws {
        let change = (0..<200).reduce(Delta.set(1)) { delta, _ in .map(["a": .apply(delta)]) }
        let maps = (0..<300).reduce(0 as Value) { value, _ in ["a": value] }
        #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) { try change.applied(to: maps) }
    }

    private static func nested(_ depth: Int, in innermost: Int64 = 1) -> Value {
        (0..<depth).reduce(.int(innermost)) { value, level in
            level % 2 == 0 ? [value] : ["a": value]
        }
    }

    /// Runs work in a thread that has as little stack as Apple's secondary threads.
    private static func onSmallStack<Result: Sendable>(
        _ work: @escaping @Sendable () -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: work()) }
            thread.stackSize = 512 << 10
            thread.start()
        }
    }
}
