internal import GodwitStore
internal import Synchronization

extension PushQueue {
    /// Reads all operations.
    func load() async throws {
        let loading = state.withLock { $0.beginLoading() }
        do {
            let commit = try await store.read { [self] transaction in
                let now = now
                try LoadedQueue.read(transaction.connection) { piece in
                    state.withLock { $0.load(piece, loading, at: now) }
                }
                return transaction.lastCommit
            }
            change { state, now in state.endLoading(loading, through: commit, at: now) }
        } catch {
            change { state, _ in state.failLoading(loading) }
            throw error
        }
    }

    /// Reads all operations again, until that works.
    func reload() async {
        while (try? await load()) == nil {
            guard (try? await options.clock.sleep(for: Self.storeRetryDelay)) != nil else { return }
        }
    }

    /// Reads all operations unless they are known, or are just being read.
    func loadIfNeeded() async throws {
        while !state.withLock(\.isLoaded) {
            let isLoading = await withCheckedContinuation { continuation in
                let isLoading = state.withLock { state in
                    state.waitForLoading { continuation.resume(returning: true) }
                }
                if !isLoading { continuation.resume(returning: false) }
            }
            if !isLoading { try await load() }
        }
    }
}
