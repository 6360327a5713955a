package import GodwitStore
internal import GodwitTree

/// A range of objects in the order of their keys' bytes, across collections.
package struct KeySpan: Hashable, Sendable {
    /// The first key; nil for the beginning.
    package let lower: ObjectKey?
    /// The first key after the range; nil for the end.
    package let upper: ObjectKey?

    /// All objects.
    package static let all = KeySpan(lower: nil, upper: nil)

    package init(lower: ObjectKey?, upper: ObjectKey?) {
        self.lower = lower
        self.upper = upper
    }

    package func contains(_ key: ObjectKey) -> Bool {
        !(lower.map { key.precedes($0) } ?? false) && (upper.map { key.precedes($0) } ?? true)
    }

    /// Whether keys ascend, and lie within the range behind its first key.
    func isCut(by keys: [ObjectKey]) -> Bool {
        let bounds = (lower.map { [$0] } ?? []) + keys + (upper.map { [$0] } ?? [])
        return zip(bounds, bounds.dropFirst()).allSatisfy { $0.precedes($1) }
    }

    /// Cuts the range before each of the keys, which ascend.
    func cut(before keys: [ObjectKey]) -> [KeySpan] {
        let bounds = [lower] + keys.map { $0 } + [upper]
        return zip(bounds, bounds.dropFirst()).map { KeySpan(lower: $0, upper: $1) }
    }
}

/// The objects in a range, as a count and a sum of their hashes.
package struct SpanSum: Hashable, Sendable {
    package let span: KeySpan
    package let sum: CollectionSum

    package init(_ span: KeySpan, _ sum: CollectionSum) {
        self.span = span
        self.sum = sum
    }
}

extension ObjectKey {
    /// Whether the key comes first in the order of bytes, as databases have it.
    package func precedes(_ other: ObjectKey) -> Bool {
        collection == other.collection
            ? Key.isBefore(key, other.key) : Key.isBefore(collection, other.collection)
    }
}
