import Foundation

/// A figure beside the bound that it must keep.
struct Target: Encodable {
    let name: String
    let figure: Double
    let bound: Double
    let isMet: Bool

    private init(_ name: String, _ figure: Double, atLeast bound: Double) {
        (self.name, self.figure, self.bound, isMet) = (name, figure, bound, figure >= bound)
    }

    private init(_ name: String, _ figure: Double, atMost bound: Double) {
        (self.name, self.figure, self.bound, isMet) = (name, figure, bound, figure <= bound)
    }

    /// The bounds are for all merges, those that people have added to by hand included.
    static func all(godwit: Tally, git: Tally) -> [Target] {
        let (ours, gits) = (godwit.counts(), git.counts())
        let notebooks = godwit.counts { $0.kind == .notebook }
        var targets = [
            Target("equal to what people settled on, %", share(ours.equal, ours), atLeast: 93),
            Target("silently different, %", share(ours.silentlyDifferent, ours), atMost: 1.5),
        ]
        if notebooks.merges > 0 {
            let figure = share(notebooks.silentlyDifferent, notebooks)
            targets.append(Target("silently different notebooks, %", figure, atMost: 3))
        }
        let half = Double(gits.reported) / 2
        targets.append(
            Target("reported conflicts, half of git's", Double(ours.reported), atMost: half)
        )
        return targets
    }

    private static func share(_ count: Int, _ counts: Counts) -> Double {
        100 * Double(count) / Double(max(1, counts.merges))
    }
}
