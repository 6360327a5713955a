import Testing

@testable import GodwitTree

/// Merging leaves nothing behind in memory.
@Suite struct MergeMemoryTests {
    @Test func `a merge frees the values that departed, and the edited parts of these`() {
        let base: Value = ["home": ["title": "Welcome to our shop", "old": "Old"]]
        let sides = Sides<Value>(
            ours: ["title": "Welcome to our shop", "old": "Old"],
            theirs: ["home": ["title": "Welcome to our little shop"]]
        )
        let changes = base.withoutTurnovers(Delta.diff(base, sides, nil), nil)
        var merger: Merger? = Merger(changes)
        merger?.isThorough = true
        _ = merger?.merge(base, changes.deltas, MergePlace(rules: nil))
        weak let freed = merger?.departures.first { $0.editedParts?.isEmpty == false }
        weak let freedPart = freed?.editedParts?.first
        #expect(freed != nil && freedPart != nil)
        merger = nil
        #expect(freed == nil && freedPart == nil)
    }
}
