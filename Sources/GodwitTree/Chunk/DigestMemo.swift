internal import Synchronization

/// A digest that is computed when it is first asked for.
///
/// The one lock of this module: a chunk is shared between threads, and whoever asks first writes
/// the digest down for all. What is written is a function of the chunk, so nobody can see who it
/// was.
struct DigestMemo: ~Copyable, Sendable {
    private let digest = Mutex<Digest?>(nil)

    var known: Digest? { digest.withLock { $0 } }

    func note(_ new: Digest) { digest.withLock { $0 = new } }

    func forget() { digest.withLock { $0 = nil } }
}
