import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Reads within the body of a walk.
@Suite struct NestedReadTests {
    let folder: TemporaryFolder
    let a = Store.Collection<Int>("a")
    let b = Store.Collection<Int>("b")

    init() throws { folder = try TemporaryFolder() }

    private func filled() async throws -> Store {
        let store = try Store(.file(folder.path("store.sqlite")))
        let (a, b) = (a, b)
        try await store.write { transaction in
            for number in 0..<5 {
                try transaction.set(number, for: "\(number)", in: a)
                try transaction.set(number + 10, for: "\(number)", in: b)
            }
        }
        return store
    }

    @Test(arguments: [false, true])
    func `a walk within a walk sees every object each time`(isSame: Bool) async throws {
        let store = try await filled()
        let (outer, inner) = (a, isSame ? a : b)
        let walk = { @Sendable (reader: borrowing ReadTransaction) in
            var sum = 0
            try reader.enumerate(outer) { _, _, _ in
                try reader.enumerate(inner) { _, number, _ in sum += number }
            }
            return sum
        }
        let read = try await store.read(walk)
        let written = try await store.write { transaction in
            var sum = 0
            try transaction.enumerate(outer) { _, _, _ in
                try transaction.enumerate(inner) { _, number, _ in sum += number }
            }
            return sum
        }
        let expected = isSame ? 5 * 10 : 5 * 60
        #expect(read == expected && written == expected)
        try store.close()
    }

    @Test func `keys and counts may be asked for within a walk`() async throws {
        let store = try await filled()
        let (a, b) = (a, b)
        let count = try await store.read { transaction in
            var count = 0
            try transaction.enumerate(a, limit: 3) { _, _, _ in
                count += try transaction.keys(in: b, limit: 2).count
                count += try transaction.keys(in: a, limit: 2).count
                count += try transaction.count(in: a, range: .prefix("1"))
            }
            return count
        }
        #expect(count == 3 * (2 + 2 + 1))
        try store.close()
    }

    @Test func `another object of a view may be read while the view is walked`() async throws {
        try await filled().close()
        let store = try Store(.file(folder.path("store.sqlite")))
        let view = try await store.view()
        var (count, sum) = (0, 0)
        try view.enumerate(a) { _, _, _ in
            if try view.get("4", in: b) == 14 { count += 1 }
            try view.enumerate(b) { _, number, _ in sum += number }
        }
        #expect(count == 5 && sum == 5 * 60)
        try store.close()
    }

    @Test func `a view in memory is walked within a walk too`() async throws {
        let store = try Store(.memory)
        let a = a
        try await store.write { transaction in
            for number in 0..<3 { try transaction.set(number, for: "\(number)", in: a) }
        }
        let view = try await store.view()
        try await store.write { try $0.set(100, for: "0", in: a) }
        var sum = 0
        try view.enumerate(a) { _, _, _ in
            try view.enumerate(a) { _, number, _ in sum += number }
        }
        #expect(sum == 9, "the view stays at its commit")
        try store.close()
    }
}
