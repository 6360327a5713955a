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

/// A merge of JSON texts.
func merged(base: String, ours: String, theirs: String) throws -> Merge {
    try merge(Value(json: base), Value(json: ours), Value(json: theirs))
}

/// Expects one result of a merge of JSON texts, in both orders of the sides.
///
/// - Parameter isTold: Whether something is reported.
func expectMerge(
    _ base: String,
    _ ours: String,
    _ theirs: String,
    gives wanted: String,
    isTold: Bool = false,
    _ location: SourceLocation = #_sourceLocation
) throws {
    let values = try [base, ours, theirs, wanted].map { try Value(json: $0) }
    for (ours, theirs) in [(values[1], values[2]), (values[2], values[1])] {
        let merge = merge(values[0], ours, theirs)
        #expect(merge.value == values[3], sourceLocation: location)
        #expect(merge.conflicts.isEmpty != isTold, sourceLocation: location)
    }
}
