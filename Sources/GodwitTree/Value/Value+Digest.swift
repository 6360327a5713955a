// Canonical bytes: deterministic CBOR, RFC 8949 section 4.2.1.
//
// One value has one encoding: shortest integers and lengths, the shortest float that holds the
// number exactly, definite lengths, map entries in the order of their encoded keys. For string
// keys that is the order of `Map`: the head carries the length, so shorter keys come first.

extension CanonicalWriter {
    mutating func write(_ value: Value) {
        switch value {
        case .null: bytes.append(0xf6)
        case .bool(let bool): bytes.append(bool ? 0xf5 : 0xf4)
        case .int(let int): writeInteger(int)
        case .double(let double): writeDouble(double.double)
        case .string(let key): write(key)
        case .bytes(let content): writeBytes(content)
        case .list(let items):
            writeListHead(items.count)
            for item in items { write(item) }
        case .map(let map):
            writeMapHead(map.count)
            for entry in map {
                write(entry.key)
                write(entry.value)
            }
        }
    }

    mutating func write(_ key: Key) { key.withBytes { writeText($0) } }

    /// The bytes that stand for a value in the digest of its container: a short scalar itself, anything
    /// else by its digest, with a tag that no value has.
    mutating func writeReference(to value: Value) {
        switch value {
        case .list, .map: writeNamed(value.digest)
        default:
            let start = bytes.count
            write(value)
            guard bytes.count - start > ContentDigest.embeddedMaxInBytes else { return }
            bytes.removeLast(bytes.count - start)
            writeNamed(value.digest)
        }
    }

    private mutating func writeNamed(_ digest: ContentDigest) {
        bytes.append(Self.nameTag)
        digest.append(to: &bytes)
    }

    /// The byte before the digest that stands for a value.
    fileprivate static let nameTag = MajorType.tag.rawValue << 5 | 6
}

extension Value {
    /// Lists mostly hold containers alone: then all references have one size.
    static func writeReferences(
        to items: UnsafeBufferPointer<Value>,
        _ writer: inout CanonicalWriter
    ) {
        guard items.indices.allSatisfy({ items[$0].isContainer }) else {
            for index in items.indices { writer.writeReference(to: items[index]) }
            return
        }
        writer.writeReferences(count: items.count, tag: CanonicalWriter.nameTag) {
            items[$0].digest
        }
    }

    /// The Merkle digest of the value: equal exactly when the values are.
    ///
    /// Containers keep theirs, and so do the chunks that large ones consist of: after an edit,
    /// only what lies on the way to it is hashed again.
    ///
    /// - Complexity: O(*n*) the first time, O(log *n*) after an edit of a large container.
    public var digest: ContentDigest {
        switch self {
        case .list(let items): items.tree.root?.digest ?? newDigest
        case .map(let map): map.tree.root?.digest ?? newDigest
        default: newDigest
        }
    }

    /// The digest of a scalar, or of an empty container, which keep none.
    private var newDigest: ContentDigest {
        var writer = CanonicalWriter()
        switch self {
        case .list: writer.beginDigest(of: Value.digestPurpose, level: 0, count: 0)
        case .map: writer.beginDigest(of: Value.Map.Entry.digestPurpose, level: 0, count: 0)
        default:
            writer.beginDigest(of: "godwit scalar 3")
            writer.write(self)
        }
        return ContentDigest(ofBytes: writer.bytes)
    }
}
