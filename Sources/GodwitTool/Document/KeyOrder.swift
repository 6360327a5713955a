import GodwitTree

/// In which order the keys of a merged map are written.
///
/// Ours, unless only theirs has changed the order of the keys that all have. A key of one side
/// only goes behind the key that it follows there, and behind what the other side has added in the
/// same place. If both sides are sorted, up or down, the result is. A key of neither side goes to
/// its place in a sorted map, and else to the end.
enum KeyOrder {
    static func merged(base: [Key]?, ours: [Key], theirs: [Key], result: Set<Key>) -> [Key] {
        let isTheirs = base.map { isReordered($0, ours: ours, theirs: theirs) } ?? false
        let (first, second) = isTheirs ? (theirs, ours) : (ours, theirs)
        let order = first.filter(result.contains)
        let known = Set(first)
        let additions = second.filter { result.contains($0) && !known.contains($0) }
        let rest = result.subtracting(first).subtracting(second).sorted(by: isBefore)
        if let isOrdered = sorting(of: first), isSorted(second, by: isOrdered) {
            return (order + additions + rest).sorted(by: isOrdered)
        }
        return inserting(Set(additions), of: second, into: order) + rest
    }

    /// Whether theirs has another order of the common keys than the base, and ours has not.
    private static func isReordered(_ base: [Key], ours: [Key], theirs: [Key]) -> Bool {
        let common = Set(base).intersection(ours).intersection(theirs)
        let old = base.filter(common.contains)
        return ours.filter(common.contains) == old && theirs.filter(common.contains) != old
    }

    private static func inserting(
        _ additions: Set<Key>,
        of other: [Key],
        into order: [Key]
    ) -> [Key] {
        guard !additions.isEmpty else { return order }
        let shared = Set(order).intersection(other)
        var runs: [Key?: [Key]] = [:]
        var anchor: Key?
        for key in other {
            if shared.contains(key) { anchor = key }
            if additions.contains(key) { runs[anchor, default: []].append(key) }
        }
        var result: [Key] = []
        var waiting = runs[nil] ?? []
        for key in order {
            if shared.contains(key) {
                result += waiting
                waiting = runs[key] ?? []
            }
            result.append(key)
        }
        return result + waiting
    }

    /// The order that keys are sorted in; two keys are sorted downwards by chance.
    private static func sorting(of keys: [Key]) -> ((Key, Key) -> Bool)? {
        if keys.count > 1, isSorted(keys, by: isBefore) { return isBefore }
        let isBehind = { (left: Key, right: Key) in isBefore(right, left) }
        return keys.count > 2 && isSorted(keys, by: isBehind) ? isBehind : nil
    }

    private static func isSorted(_ keys: [Key], by isOrdered: (Key, Key) -> Bool) -> Bool {
        zip(keys, keys.dropFirst()).allSatisfy(isOrdered)
    }

    private static func isBefore(_ left: Key, _ right: Key) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
