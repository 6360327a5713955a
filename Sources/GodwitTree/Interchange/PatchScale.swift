/// Weighs the parts of a document that a patch copies or moves.
///
/// A document that was copied into itself shares all of its parts, and seen as text it is twice as
/// long. So each container is weighed once, and known again by its identity: to weigh a document
/// costs no more than what is new in it.
struct PatchScale {
    struct Size {
        /// About the size as text.
        var sizeInBytes = 4
        /// How many containers are nested.
        var depth = 0
    }

    /// The containers stay alive, so that no other one takes their identity.
    private var known: [ObjectIdentifier: (container: AnyObject, size: Size)] = [:]

    /// - Throws: ``TreeError/tooDeep(limit:)`` or ``TreeError/overBudget(_:limit:)``.
    mutating func size(
        of value: Value,
        depthLeft: Int = Value.depthMax,
        _ meter: inout ReadMeter
    ) throws(TreeError) -> Size {
        switch value {
        case .string(let key): return Size(sizeInBytes: 4 + key.sizeInBytes)
        case .bytes(let bytes): return Size(sizeInBytes: 4 + bytes.count)
        case .list(let items):
            guard let root = items.tree.root else { return Size(depth: 1) }
            if let size = known[ObjectIdentifier(root)]?.size { return size }
            var sum = Sum(try Self.below(depthLeft))
            try meter.take(steps: items.count)
            for item in items { sum.add(try size(of: item, depthLeft: sum.depthLeft, &meter)) }
            return note(sum.size, of: root)
        case .map(let map):
            guard let root = map.tree.root else { return Size(depth: 1) }
            if let size = known[ObjectIdentifier(root)]?.size { return size }
            var sum = Sum(try Self.below(depthLeft))
            try meter.take(steps: map.count)
            for entry in map {
                sum.add(Size(sizeInBytes: entry.key.sizeInBytes))
                sum.add(try size(of: entry.value, depthLeft: sum.depthLeft, &meter))
            }
            return note(sum.size, of: root)
        default: return Size()
        }
    }

    private static func below(_ depthLeft: Int) throws(TreeError) -> Int {
        guard depthLeft > 0 else { throw .tooDeep(limit: Value.depthMax) }
        return depthLeft - 1
    }

    private mutating func note(_ size: Size, of root: AnyObject) -> Size {
        // A lookup takes as long as to weigh a light value anew.
        if size.sizeInBytes >= Self.notedMinInBytes {
            known[ObjectIdentifier(root)] = (root, size)
        }
        return size
    }

    private static let notedMinInBytes = 256

    private struct Sum {
        private(set) var size = Size(depth: 1)
        let depthLeft: Int

        init(_ depthLeft: Int) { self.depthLeft = depthLeft }

        mutating func add(_ part: Size) {
            // A sum of shared parts can be beyond any number.
            size.sizeInBytes = min(size.sizeInBytes + part.sizeInBytes, Self.sizeMaxInBytes)
            size.depth = max(size.depth, part.depth + 1)
        }

        private static let sizeMaxInBytes = 1 << 48
    }
}
