import Foundation
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

    @Test(arguments: [false, true])
    func `the WAL begins anew when the writer is idle, and when it never is`(
        isIdle: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        var options = Store.Options()
        (options.limits.idleCheckpointPages, options.limits.checkpointPages) = (50, 100)
        let store = try Store(.file(path), options: options)
        let texts = Store.Collection<String>("texts")
        let text = String(repeating: "text ", count: 2_000)
        for round in 0..<60 {
            if isIdle {
                try await store.write { try $0.set(text, for: "\(round)", in: texts) }
            } else {
                await store.suspend()
                let tickets = try (0..<10).map { number in
                    try store.writeLater { try $0.set(text, for: "\(round) \(number)", in: texts) }
                }
                store.resume()
                for ticket in tickets { _ = try await ticket.finish() }
            }
        }
        // The log is copied after so many pages; one group, or a few commits, are behind that.
        let size = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        let most = (isIdle ? 50 : 200) * 2 * 4_096
        #expect(try #require(size) < most)
        try store.close()
    }
}
