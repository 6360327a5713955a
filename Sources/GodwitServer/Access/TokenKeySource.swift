#if Server
internal import GodwitStore
internal import Logging

/// Where the keys of tokens come from: a file, or the address of an identity provider.
protocol TokenKeySource: Sendable {
    /// The newest set that can be had at once; a source that has to ask for it looks again for an id that it
    /// does not know.
    func keys(for id: String) async -> TokenKeySet
}

extension TokenRules {
    /// - Throws: ``AccessError/unusableKeySet(path:reason:)``.
    func source(clock: StoreClock, logger: Logger) async throws -> any TokenKeySource {
        guard let address = try RemoteTokenKeys.Address(keySet) else {
            return try await TokenKeyFile(keySet, now: clock.now, logger: logger)
        }
        return try await RemoteTokenKeys(
            address,
            elapsed: clock.elapsed,
            logger: logger,
            fetch: address.fetch
        )
    }
}
#endif
