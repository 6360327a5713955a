import Testing

@testable import GodwitTree

/// A merge of which the three changes lead to its value.
func merge(_ base: Value, _ ours: Value, _ theirs: Value) -> Merge {
    let merge = Merge(base: base, ours: ours, theirs: theirs)
    #expect((try? merge.delta.applied(to: base)) == merge.value)
    #expect((try? merge.afterOurs.applied(to: ours)) == merge.value)
    #expect((try? merge.afterTheirs.applied(to: theirs)) == merge.value)
    return merge
}
