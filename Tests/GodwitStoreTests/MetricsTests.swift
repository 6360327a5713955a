import GodwitStore
import GodwitTestKit
import GodwitTree
import MetricsTestKit
import Testing

@Suite struct MetricsTests {
    @Test func `a store tells how much it does, and how large its groups are`() async throws {
        let metrics = TestMetrics()
        var options = Store.Options()
        options.metrics = metrics
        options.limits.ageMax = .seconds(60)
        let folder = try TemporaryFolder()
        let store = try Store(.file(folder.path("store.sqlite")), options: options)
        let numbers = Store.Collection<Int>("numbers")
        await store.suspend()
        for number in 0..<5 {
            try store.writeLater { try $0.set(number, for: "\(number)", in: numbers) }
        }
        store.resume()
        try await store.flush()
        try await store.write { _ in }

        #expect(try metrics.expectCounter("godwit.store.commits").values.reduce(0, +) == 5)
        #expect(try metrics.expectRecorder("godwit.store.group.objects").values.max() == 5)
        #expect(try metrics.expectRecorder("godwit.store.queue.depth").values.max() ?? 0 >= 5)
        #expect(try metrics.expectTimer("godwit.store.group.duration").values.count >= 1)
        #expect(try metrics.expectGauge("godwit.store.wal.pages").values.contains { $0 > 0 })
        try store.close()
    }
}
