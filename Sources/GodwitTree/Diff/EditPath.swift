// A shortest way from one sequence to another, by E. W. Myers, "An O(ND) difference algorithm and
// its variations", 1986.

/// A part of one sequence in the place of a part of another.
struct Hunk: Equatable {
    var old: Range<Int>
    var new: Range<Int>
}

/// The differences of two sequences.
enum EditPath {
    /// The hunks that lead from one sequence to the other, in order; no two of them touch.
    ///
    /// The rest after the common beginning and end is one hunk if it has more than
    /// `differenceMax` differences.
    ///
    /// - Complexity: O(*n* + *d*²) in time and O(*d*²) in memory, for *d* differences.
    static func hunks<Element: Equatable>(
        from old: [Element],
        to new: [Element],
        differenceMax: Int
    ) -> [Hunk] {
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start] { start += 1 }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1] {
            (oldEnd, newEnd) = (oldEnd - 1, newEnd - 1)
        }
        guard start < oldEnd || start < newEnd else { return [] }
        let whole = Hunk(old: start..<oldEnd, new: start..<newEnd)
        guard start < oldEnd, start < newEnd else { return [whole] }
        let found = myers(
            old[start..<oldEnd],
            new[start..<newEnd],
            differenceMax: differenceMax
        )
        return found ?? [whole]
    }

    private static func myers<Element: Equatable>(
        _ old: ArraySlice<Element>,
        _ new: ArraySlice<Element>,
        differenceMax: Int
    ) -> [Hunk]? {
        let (oldStart, newStart) = (old.startIndex, new.startIndex)
        // Furthest x by diagonal, from -d to d, for each number of differences d.
        var trace: [[Int]] = []
        var furthest: [Int] = []
        for differences in 0...differenceMax {
            var next = [Int](repeating: 0, count: 2 * differences + 5)
            var isFound = false
            for diagonal in stride(from: -differences, through: differences, by: 2) {
                let middle = differences + 1
                let below = differences == 0 ? 0 : furthest[middle + diagonal - 1]
                let above = differences == 0 ? 0 : furthest[middle + diagonal + 1]
                let isDown = diagonal == -differences || diagonal != differences && below < above
                var x = differences == 0 ? 0 : isDown ? above : below + 1
                while x < old.count, x - diagonal < new.count, x - diagonal >= 0,
                    old[oldStart + x] == new[newStart + x - diagonal]
                {
                    x += 1
                }
                next[differences + 2 + diagonal] = x
                if x >= old.count, x - diagonal >= new.count { isFound = true }
            }
            trace.append(furthest)
            if isFound { return walkBack(trace, old.count, new.count, oldStart, newStart) }
            furthest = next
        }
        return nil
    }

    /// - Parameter trace: For each number of differences, the furthest points of one fewer.
    private static func walkBack(
        _ trace: [[Int]],
        _ oldCount: Int,
        _ newCount: Int,
        _ oldStart: Int,
        _ newStart: Int
    ) -> [Hunk] {
        var (x, y) = (oldCount, newCount)
        var reversed: [Hunk] = []
        for differences in trace.indices.reversed() where differences > 0 {
            let furthest = trace[differences]
            let diagonal = x - y
            let (below, above) = (
                furthest[differences + diagonal], furthest[differences + diagonal + 2]
            )
            let isDown = diagonal == -differences || diagonal != differences && below < above
            let previousX = isDown ? above : below
            let previousY = previousX - (isDown ? diagonal + 1 : diagonal - 1)
            let old = (oldStart + previousX)..<(oldStart + previousX + (isDown ? 0 : 1))
            let new = (newStart + previousY)..<(newStart + previousY + (isDown ? 1 : 0))
            if let next = reversed.last, next.old.lowerBound == old.upperBound,
                next.new.lowerBound == new.upperBound
            {
                reversed[reversed.count - 1] = Hunk(
                    old: old.lowerBound..<next.old.upperBound,
                    new: new.lowerBound..<next.new.upperBound
                )
            } else {
                reversed.append(Hunk(old: old, new: new))
            }
            (x, y) = (previousX, previousY)
        }
        return reversed.reversed()
    }
}
