internal import GodwitStore
internal import GodwitTree

/// Objects of the server's that an earlier comparison has found, beside those of the base.
///
/// A comparison that goes on after a kill compares the base with these in place. Their sums are
/// compared like all others: it does not matter how old they are.
struct FetchedObjects: Hashable, Sendable {
    private let keys: [ObjectKey]
    private let base: [ObjectKey: VersionedValue]
    /// The server's objects where they differ from the base; nil where it had none.
    let differences: [ObjectKey: VersionedValue?]

    static let none = FetchedObjects([:], over: [:])

    /// - Parameter base: The objects of the base at these keys.
    init(_ objects: [ObjectKey: VersionedValue?], over base: [ObjectKey: VersionedValue]) {
        differences = objects.filter { $0.value != base[$0.key] }
        self.base = base.filter { objects.keys.contains($0.key) }
        keys = differences.keys.sorted { $0.precedes($1) }
    }

    /// Replaces the objects of a range that the base has by these.
    func replace(in sum: inout CollectionSum, of span: KeySpan) {
        for key in keys[keys.indices(in: span)] {
            sum.replace(base[key], with: differences[key] ?? nil, at: key)
        }
    }

    func replace(in objects: inout [ObjectKey: VersionedValue], of span: KeySpan) {
        for key in keys[keys.indices(in: span)] { objects[key] = differences[key] ?? nil }
    }
}

extension [ObjectKey] {
    /// Where the keys of a range are among ascending keys; nowhere if a peer's range ends before it begins.
    ///
    /// - Complexity: O(log *n*).
    func indices(in span: KeySpan) -> Range<Int> {
        let start = span.lower.map { lower in firstIndex { !$0.precedes(lower) } } ?? 0
        let end = span.upper.map { upper in firstIndex { !$0.precedes(upper) } } ?? count
        return start..<Swift.max(start, end)
    }

    /// The first key that fulfils what all keys after it fulfil, too.
    private func firstIndex(_ isAfter: (ObjectKey) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
