extension Array {
    /// The first index of which the element fulfils what all after it fulfil, too; the end if none does.
    ///
    /// - Complexity: O(log *n*).
    func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
