/// Where a resource lies in the tree of all that operations touch.
///
/// Names are hashed. Two names with one hash give an order that is not needed, and lose none.
struct FootprintKey: Hashable, Sendable {
    /// Whether it is a path, and part of what it lies in.
    let isPath: Bool
    /// The hashes of a path's host and of its components, 32 bits each, or of another name, 64 bits.
    let steps: [UInt64]

    init(isPath: Bool, steps: [UInt64]) { (self.isPath, self.steps) = (isPath, steps) }

    /// - Parameter host: Where the resource is; nil for the only one.
    init(_ resource: String, on host: String?) {
        isPath = resource.utf8.first == UInt8(ascii: "/")
        guard isPath else {
            steps = [StableHash(host.map { "\($0) \(resource)" } ?? resource).value]
            return
        }
        var steps = [StableHash(host ?? "").folded]
        var hash = StableHash()
        for byte in resource.utf8 {
            if byte != UInt8(ascii: "/") {
                hash += byte
            } else if hash.isBegun {
                steps.append(hash.folded)
                hash = StableHash()
            }
        }
        if hash.isBegun { steps.append(hash.folded) }
        self.steps = steps
    }
}

extension FootprintKey: Comparable {
    static func < (left: FootprintKey, right: FootprintKey) -> Bool {
        guard left.isPath == right.isPath else { return right.isPath }
        return left.steps.lexicographicallyPrecedes(right.steps)
    }
}

/// FNV-1a, 64 bits: the same in each process and version.
private struct StableHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var isBegun = false

    init(_ text: String = "") { for byte in text.utf8 { self += byte } }

    /// In 32 bits.
    var folded: UInt64 { (value ^ value >> 32) & 0xffff_ffff }

    static func += (hash: inout StableHash, byte: UInt8) {
        hash.value = (hash.value ^ UInt64(byte)) &* 0x100_0000_01b3
        hash.isBegun = true
    }
}
