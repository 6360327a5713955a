import GodwitStore
import GodwitTestKit
import GodwitTree
import MetricsTestKit
import Testing

/// Sums and means over the objects that a query finds.
@Suite struct SumTests {
    struct Invoice: Codable, Equatable, Sendable {
        var isPaid: Bool
        var cents: Int
        var weight: Double
        var small: Int8 = 100
        var discount: Int?
    }

    private let invoices = Store.Collection<Invoice>("invoices")

    private func store(_ indexes: [Store.Index], count: Int) async throws -> (Store, TestMetrics) {
        let metrics = TestMetrics()
        var options = Store.Options()
        options.metrics = metrics
        options.collections = [CollectionRules(invoices, indexes: indexes)]
        let store = try Store(.memory, options: options)
        try await store.write { [invoices] transaction in
            for number in 0..<count {
                let invoice = Invoice(
                    isPaid: number % 3 == 0,
                    cents: number,
                    weight: Double(number) / 2
                )
                try transaction.set(invoice, for: "\(number)", in: invoices)
            }
        }
        return (store, metrics)
    }

    static let indexes: [[Store.Index]] = [
        [],
        [Store.Index("paid", on: "isPaid")],
        [Store.Index("all", on: "isPaid", "cents", "weight")],
    ]

    @Test(arguments: indexes)
    func `sums and means are those of the objects, with any index and in an older view`(
        _ indexes: [Store.Index]
    ) async throws {
        let (store, _) = try await store(indexes, count: 100)
        let open = invoices.where(\.isPaid, .equal(false))
        let view = try await store.view()
        try await store.write { [invoices] transaction in
            try transaction.update("1", in: invoices) { $0.cents = 1_000 }
            try transaction.remove("2", in: invoices)
        }
        let old = (0..<100).filter { $0 % 3 != 0 }
        let total = old.reduce(0, +)
        let (cents, mean, weight) = (
            try view.sum(\.cents, of: open), try view.average(\.cents, of: open),
            try view.sum(\.weight, of: open)
        )
        #expect(cents == total && mean == Double(total) / Double(old.count))
        #expect(weight == Double(total) / 2)
        try await store.write { [invoices] transaction in
            let new = 1_000 + old.dropFirst(2).reduce(0, +)
            let (cents, nothing) = (
                try transaction.sum(\.cents, of: open),
                try transaction.sum(\.cents, of: open.limit(0))
            )
            #expect(cents == new && nothing == 0)
            let most = invoices.order(by: \.cents, .descending).limit(2)
            let sum = try transaction.sum(\.cents, of: most)
            #expect(sum == 1_000 + 99)
            let none = invoices.where(\.cents, .equal(-1))
            let mean = try transaction.average(\.weight, of: none)
            #expect(mean == nil)
        }
    }

    @Test func `an index that has the field is summed up without a scan`() async throws {
        for (indexes, scans) in zip(Self.indexes, [1, 0, 0]) {
            let (store, metrics) = try await store(indexes, count: 10)
            let open = invoices.where(\.isPaid, .equal(false))
            _ = try await store.read { try $0.sum(\.cents, of: open) }
            let scanned = try? metrics.expectCounter("godwit.store.scans").totalValue
            #expect(scanned ?? 0 == Int64(scans))
        }
    }

    @Test func `a sum beyond its type is refused`() async throws {
        let (store, _) = try await store([], count: 2)
        let reason = "the sum is beyond the range of Int8"
        await #expect(throws: StoreError.unusableField("small", reason: reason)) {
            try await store.read { [invoices] in try $0.sum(\.small, of: invoices.all) }
        }
    }

    @Test func `a sum overflows in no order of its numbers, and passes over nil`() async throws {
        for indexes in [[], [Store.Index("small", on: "small", "discount")]] {
            let (store, _) = try await store(indexes, count: 3)
            try await store.write { [invoices] transaction in
                try transaction.update("2", in: invoices) { ($0.small, $0.discount) = (-100, 7) }
            }
            let (small, discount) = try await store.read { [invoices] transaction in
                (
                    try transaction.sum(\.small, of: invoices.all),
                    try transaction.sum(\.discount, of: invoices.all)
                )
            }
            #expect(small == 100 && discount == 7)
        }
    }

    @Test func `a sum that is followed is told when it is another one`() async throws {
        let (store, _) = try await store(Self.indexes[2], count: 4)
        let open = invoices.where(\.isPaid, .equal(false))
        var sums = store.values { try $0.sum(\.cents, of: open) }.makeAsyncIterator()
        #expect(try await sums.next() == 3)
        try await store.write { [invoices] transaction in
            try transaction.update("3", in: invoices) { $0.cents = 50 }
        }
        try await store.write { [invoices] transaction in
            try transaction.update("1", in: invoices) { $0.cents = 5 }
        }
        #expect(try await sums.next() == 7)
        // What leaves the sum as it is, is not told, whether it comes alone or with a change.
        for cents in [0, 6] {
            try await store.write { [invoices] transaction in
                try transaction.update("3", in: invoices) { $0.cents = 60 + cents }
                try transaction.touch("1", in: invoices)
                if cents > 0 { try transaction.update("1", in: invoices) { $0.cents = cents } }
            }
        }
        #expect(try await sums.next() == 8)
    }
}
