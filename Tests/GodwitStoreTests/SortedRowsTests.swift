import GodwitTestKit
import Testing

@testable import GodwitStore

/// The rows of a live list, beside a sorted array.
@Suite struct SortedRowsTests {
    @Test(arguments: 1...8) func `rows are those of a sorted array, however many come and go`(
        seed: Int
    ) {
        var random = Seeded(seed: UInt64(seed))
        var rows = SortedRows<Int>()
        var model: Set<Int> = []
        for step in 0..<6_000 {
            let number = Int.random(in: 0..<4_000, using: &random)
            if model.contains(number), step > 3_000 {
                rows.remove(number)
                model.remove(number)
            } else if model.insert(number).inserted {
                rows.insert(number)
            }
        }
        let sorted = model.sorted()
        #expect(sorted.count > 1_024, "several chunks, seed \(seed)")
        #expect(rows.count == sorted.count, "seed \(seed)")
        for (place, number) in sorted.enumerated() {
            #expect(rows.rank(of: number) == place, "seed \(seed)")
            if rows.rank(of: number) != place { return }
        }
    }
}
