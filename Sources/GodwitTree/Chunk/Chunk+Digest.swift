extension Chunk {
    /// The Merkle digest, computed once.
    @inline(__always)
    var digest: ContentDigest { knownDigest ?? computedDigest() }

    @inline(never)
    private func computedDigest() -> ContentDigest {
        var writer = CanonicalWriter()
        switch part {
        case .inner(let inner):
            writer.bytes.reserveCapacity(32 + ContentDigest.sizeInBytes * inner.chunks.count)
            writer.beginDigest(of: Element.digestPurpose, level: level, count: count)
            let chunks = inner.chunks
            writer.writeReferences(count: chunks.count) { chunks[$0].digest }
        case .short, .leaf, .run:
            writer.bytes.reserveCapacity(32 + 24 * storedCount)
            writer.beginDigest(of: Element.digestPurpose, level: 0, count: count)
            withStoredElements { Element.writeReferences(to: $0, &writer) }
        }
        let digest = ContentDigest(ofBytes: writer.bytes)
        withMemo { $0.note(digest) }
        return digest
    }

    var knownDigest: ContentDigest? { withMemo { $0.known } }

    func forgetDigest() { withMemo { $0.forget() } }

    private func withMemo<Result>(
        _ body: (UnsafeMutablePointer<DigestMemo>) -> Result
    ) -> Result {
        withUnsafeMutablePointerToHeader { header in
            body(UnsafeMutableRawPointer(header).assumingMemoryBound(to: DigestMemo.self))
        }
    }

    /// Whether two nodes hold the same elements; equal content has equal shape.
    static func isEqual(_ left: Chunk, _ right: Chunk) -> Bool {
        if left === right { return true }
        guard left.count == right.count, left.storedCount == right.storedCount else { return false }
        if let leftDigest = left.knownDigest, let rightDigest = right.knownDigest {
            return leftDigest == rightDigest
        }
        switch (left.part, right.part) {
        case (.inner(let left), .inner(let right)):
            return left.chunks.elementsEqual(right.chunks, by: isEqual)
        case (.inner, _), (_, .inner): return false
        default:
            return left.withStoredElements { left in
                right.withStoredElements { left.elementsEqual($0) }
            }
        }
    }
}
