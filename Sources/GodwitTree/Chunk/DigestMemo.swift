internal import Synchronization

/// A digest that is computed when it is first asked for, in the header of a chunk.
///
/// Threads share chunks. The first thread that has computed a digest claims the memo, writes the
/// digest and publishes it; others that compute it meanwhile keep theirs. The digest is a
/// function of the chunk, so all threads compute the same.
struct DigestMemo {
    private var digest = ContentDigest.zero
    private var state = Self.unknown

    fileprivate static let unknown: UInt32 = 0
    fileprivate static let claimed: UInt32 = 1
    fileprivate static let known: UInt32 = 2
}

extension UnsafeMutablePointer<DigestMemo> {
    var known: ContentDigest? {
        guard state.pointee.load(ordering: .acquiring) == DigestMemo.known else { return nil }
        return digest.pointee
    }

    func note(_ new: ContentDigest) {
        let (isFirst, _) = state.pointee.compareExchange(
            expected: DigestMemo.unknown,
            desired: DigestMemo.claimed,
            ordering: .relaxed
        )
        guard isFirst else { return }
        digest.pointee = new
        state.pointee.store(DigestMemo.known, ordering: .releasing)
    }

    /// - Precondition: No other thread can see the chunk.
    func forget() { state.pointee.store(DigestMemo.unknown, ordering: .relaxed) }

    // The properties stand one behind the other, in the order of their declaration. An atomic
    // number in a struct would make the struct, and the header of a chunk, noncopyable.

    private var digest: UnsafeMutablePointer<ContentDigest> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ContentDigest.self)
    }

    private var state: UnsafeMutablePointer<Atomic<UInt32>> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<ContentDigest>.size)
            .assumingMemoryBound(to: Atomic<UInt32>.self)
    }
}
