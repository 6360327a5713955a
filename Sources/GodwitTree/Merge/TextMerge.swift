// Two changes of one text, walked along the base together.
//
//   (1) A byte of the base stays when both sides keep it.
//   (2) What either side puts in is there, ours first; what both put in at the same place for
//       the same bytes is there once.
//   (3) Sides that both replace a byte, or one of which writes within what the other replaces,
//       contest it.

/// The merge of two text deltas of one base.
struct TextMerge {
    private(set) var merged = Merged(.keep, afterOurs: .keep, afterTheirs: .keep)
    private(set) var isContested = false

    private var result = SpliceWriter()
    private var afterOurs = SpliceWriter()
    private var afterTheirs = SpliceWriter()

    init(_ ours: TextDelta, _ theirs: TextDelta) {
        var (ourRest, theirRest) = (ours.splices[...], theirs.splices[...])
        var position = 0
        while let next = [ourRest.first, theirRest.first].compactMap({ $0?.offset }).min() {
            keep(next - position)
            let cluster = Cluster(from: next, &ourRest, &theirRest)
            isContested = isContested || cluster.isContested
            write(cluster, from: next)
            position = cluster.end
        }
        merged = Merged(
            result.delta,
            afterOurs: afterOurs.delta,
            afterTheirs: afterTheirs.delta
        )
    }

    private mutating func keep(_ count: Int) {
        result.keep(count)
        afterOurs.keep(count)
        afterTheirs.keep(count)
    }

    private mutating func write(_ cluster: Cluster, from start: Int) {
        var position = start
        var (ours, theirs) = (cluster.ours[...], cluster.theirs[...])
        var (ourEnd, theirEnd) = (start, start)
        while position < cluster.end || !ours.isEmpty || !theirs.isEmpty {
            let our = ours.first?.offset == position ? ours.popFirst() : nil
            let their = theirs.first?.offset == position ? theirs.popFirst() : nil
            insert(our?.inserted, their?.inserted, areSame: our != nil && our == their)
            ourEnd = max(ourEnd, our?.end ?? start)
            theirEnd = max(theirEnd, their?.end ?? start)
            let bounds = [ours.first?.offset, theirs.first?.offset, ourEnd, theirEnd, cluster.end]
            guard let next = bounds.compactMap({ $0 }).filter({ $0 > position }).min() else {
                break
            }
            take(next - position, ours: position >= ourEnd, theirs: position >= theirEnd)
            position = next
        }
    }

    private mutating func insert(_ ours: Key?, _ theirs: Key?, areSame: Bool) {
        if let ours {
            result.insert(ours)
            afterOurs.keep(ours.sizeInBytes)
            if areSame { afterTheirs.keep(ours.sizeInBytes) } else { afterTheirs.insert(ours) }
        }
        if let theirs, !areSame {
            result.insert(theirs)
            afterOurs.insert(theirs)
            afterTheirs.keep(theirs.sizeInBytes)
        }
    }

    /// Some bytes of the base, which a side keeps or removes.
    private mutating func take(_ count: Int, ours: Bool, theirs: Bool) {
        if ours, theirs { return keep(count) }
        result.remove(count)
        if ours { afterOurs.remove(count) }
        if theirs { afterTheirs.remove(count) }
    }
}

/// Splices of both sides that overlap, or meet in one place.
private struct Cluster {
    private(set) var ours: [TextDelta.Splice] = []
    private(set) var theirs: [TextDelta.Splice] = []
    private(set) var end: Int

    /// Takes the splices from `start` on that hang together.
    init(
        from start: Int,
        _ ourRest: inout ArraySlice<TextDelta.Splice>,
        _ theirRest: inout ArraySlice<TextDelta.Splice>
    ) {
        end = start
        while true {
            if let next = ourRest.first, next.offset <= end {
                ours.append(next)
                end = max(end, next.end)
                ourRest.removeFirst()
            } else if let next = theirRest.first, next.offset <= end {
                theirs.append(next)
                end = max(end, next.end)
                theirRest.removeFirst()
            } else {
                break
            }
        }
    }

    var isContested: Bool {
        var (our, their) = (0, 0)
        while our < ours.count, their < theirs.count {
            let (left, right) = (ours[our], theirs[their])
            if left != right, left.offset < right.end, right.offset < left.end { return true }
            if left.end <= right.end { our += 1 } else { their += 1 }
        }
        return false
    }
}
