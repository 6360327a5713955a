import GodwitReplication
import GodwitTree

/// What a replay did, in figures.
struct ReplayReport {
    let edits: Int
    let seconds: Double
    let firstSizeInBytes: Int
    let sizes: [Int]
    let statesKept: Int
    let statesMax: Int
    let id: StateID

    var median: Int { percentile(0.5) }
    var ninetieth: Int { percentile(0.9) }
    var mean: Double { sizes.isEmpty ? 0 : Double(sizes.reduce(0, +)) / Double(sizes.count) }

    private func percentile(_ fraction: Double) -> Int {
        guard !sizes.isEmpty else { return 0 }
        let sorted = sizes.sorted()
        return sorted[min(Int(Double(sorted.count) * fraction), sorted.count - 1)]
    }

    var encoded: Value {
        [
            "edits": .int(Int64(edits)),
            "seconds": .double(Finite(seconds) ?? 0.0),
            "bytesPerEdit": [
                "median": .int(Int64(median)), "mean": .double(Finite(mean) ?? 0.0),
                "p90": .int(Int64(ninetieth)),
            ],
            "statesKept": .int(Int64(statesKept)),
            "id": .string(Key(id.description)),
        ]
    }

    var text: String {
        let rate = seconds > 0 ? Double(edits) / seconds : 0
        return Terminal.table([
            ["edits", "\(edits)", "in \(seconds.rounded(to: 2)) s, \(Int(rate)) per second"],
            ["first version", "\(firstSizeInBytes)", "bytes"],
            ["bytes per edit", "\(median)", "median"],
            ["", "\(mean.rounded(to: 1))", "mean"],
            ["", "\(ninetieth)", "90th percentile"],
            ["states kept", "\(statesKept)", "at most \(statesMax)"],
            ["server", id.description], ["editor", id.description], ["follower", id.description],
        ])
    }
}

extension Double {
    func rounded(to digits: Int) -> Double {
        let factor = (0..<digits).reduce(1.0) { power, _ in power * 10 }
        return (self * factor).rounded() / factor
    }
}
