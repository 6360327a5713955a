/// An element of a chunk tree.
protocol ChunkElement: Equatable, Sendable {
    /// Decides where chunks end: equal for equal elements, the same everywhere.
    var boundaryHash: UInt64 { get }

    /// Decides where chunks end among elements whose hashes repeat each other.
    var contentByte: UInt8 { get }

    /// Adds what stands for this element in the digest of its chunk.
    func writeReference(to writer: inout CanonicalWriter)

    /// Adds what stands for each of some elements, one behind the other.
    static func writeReferences(
        to elements: UnsafeBufferPointer<Self>,
        _ writer: inout CanonicalWriter
    )

    /// A name that keeps the digests of different trees apart.
    static var digestPurpose: String { get }

    // Requirements, because the runtime calls the `deinit` of a generic class as generic code: the
    // conformance is the way back to code that the compiler made for this element.

    /// Destroys the elements that a chunk stores, when the chunk goes.
    static func destroyElements(of chunk: Chunk<Self>)

    /// Destroys what an inner node stores, when the node goes.
    static func destroyChildren(of node: InnerNode<Self>)
}

extension ChunkElement {
    static func writeReferences(
        to elements: UnsafeBufferPointer<Self>,
        _ writer: inout CanonicalWriter
    ) {
        for index in elements.indices { elements[index].writeReference(to: &writer) }
    }

    static func destroyElements(of chunk: Chunk<Self>) {
        let count = chunk.storedCount
        chunk.withUnsafeMutablePointerToElements { elements in
            for index in 0..<count { _ = (elements + index).move() }
        }
    }

    static func destroyChildren(of node: InnerNode<Self>) {
        let count = node.childCount
        node.withUnsafeMutablePointerToElements { children in
            for index in 0..<count { _ = (children + index).move() }
        }
    }
}

extension ChunkElement {
    /// The part of the hash that counts.
    var boundaryByte: UInt8 { UInt8(BoundaryHash.finished(boundaryHash) >> 56) }
}
