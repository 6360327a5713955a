extension Value {
    /// The one encoding of this value, in deterministic CBOR.
    ///
    /// - Complexity: O(*n*) in the size of the value.
    public var canonicalBytes: [UInt8] {
        var writer = CanonicalWriter()
        writer.bytes.reserveCapacity(256)
        writer.write(self)
        return writer.bytes
    }
}

extension Value {
    /// Whether the canonical bytes are probably no more than a limit; nothing is encoded for it.
    func isEncoded(within limit: Int) -> Bool { encodedSize(within: limit) != nil }

    /// About how many canonical bytes there are, and at least half as many as that; nil where it is
    /// more than a limit.
    func encodedSize(within limit: Int) -> Int? {
        var left = limit
        return take(from: &left) ? limit - left : nil
    }

    private func take(from left: inout Int) -> Bool {
        left -= 1
        switch self {
        case .string(let key): left -= key.sizeInBytes
        case .bytes(let bytes): left -= bytes.count
        case .int, .double: left -= 4
        case .list(let items):
            for item in items { guard item.take(from: &left) else { return false } }
        case .map(let map):
            for entry in map {
                left -= entry.key.sizeInBytes
                guard entry.value.take(from: &left) else { return false }
            }
        case .null, .bool: break
        }
        return left >= 0
    }
}
