#if Server
internal import AsyncHTTPClient
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// The key set at the address of an identity provider, which is fetched again from time to time.
///
/// A set that cannot be fetched, or is none, leaves the last good one as it was. The provider is asked once in
/// ``Self/lookInterval`` at most, so that forged tokens cost it nothing.
actor RemoteTokenKeys: TokenKeySource {
    private let address: Address
    private let elapsed: @Sendable () -> Duration
    private let logger: Logger
    private let fetch: @Sendable () async throws -> [UInt8]
    private var current: TokenKeySet
    /// When the current set was asked for.
    private var fetched: Duration
    /// When the last fetch has begun.
    private var asked: Duration
    private var hasFailed = false
    private var fetching: Task<Void, Never>?

    /// From which age on a set is fetched again before it lets tokens in.
    static let ageMax = Duration.seconds(600)
    static let lookInterval = Duration.seconds(30)

    /// - Parameters:
    ///   - elapsed: The time since any moment.
    ///   - fetch: Gets the set's bytes, or throws after a while.
    /// - Throws: ``AccessError/unusableKeySet(path:reason:)``.
    init(
        _ address: Address,
        elapsed: @escaping @Sendable () -> Duration,
        logger: Logger,
        fetch: @escaping @Sendable () async throws -> [UInt8]
    ) async throws(AccessError) {
        (fetched, asked) = (elapsed(), elapsed())
        do {
            current = try await TokenKeySet(try await fetch())
        } catch {
            throw .unusableKeySet(path: address.text, reason: "\(error)")
        }
        (self.address, self.elapsed, self.logger, self.fetch) = (address, elapsed, logger, fetch)
    }

    func keys(for id: String) async -> TokenKeySet {
        let (now, isKnown) = (elapsed(), current.hasKey(id))
        let isOld = now - fetched >= Self.ageMax
        if isOld || !isKnown, now - asked >= Self.lookInterval { refresh(at: now) }
        // While the provider fails, the keys that are known let their tokens in at once.
        if !isKnown || isOld && !hasFailed { await fetching?.value }
        return current
    }

    private func refresh(at now: Duration) {
        guard fetching == nil else { return }
        asked = now
        fetching = Task {
            defer { fetching = nil }
            do {
                current = try await TokenKeySet(try await fetch())
                (fetched, hasFailed) = (now, false)
            } catch {
                hasFailed = true
                let metadata: Logger.Metadata = [
                    "address": "\(address.text)", "error": "\(error)",
                ]
                logger.error(
                    "the key set cannot be had; the last good one stays",
                    metadata: metadata
                )
            }
        }
    }
}

extension RemoteTokenKeys {
    /// The address of a key set: HTTPS, or HTTP on loopback.
    struct Address: Sendable {
        let text: String

        private static let timeout = Duration.seconds(10)

        /// Nil for a path.
        ///
        /// - Throws: ``AccessError/unusableKeySet(path:reason:)`` for an address that anyone on the way could
        ///   answer for.
        init?(_ text: String) throws(AccessError) {
            let scheme = text.prefix { $0 != ":" }.lowercased()
            guard text.contains("://"), ["http", "https"].contains(scheme) else { return nil }
            let host = URLComponents(string: text)?.host
            guard let host, !host.isEmpty, scheme == "https" || Loopback.contains(host) else {
                let reason = "it is no address that begins with https://"
                throw .unusableKeySet(path: text, reason: reason)
            }
            self.text = text
        }

        /// Gets the set in ten seconds, or throws; another address that the provider names is not asked.
        func fetch() async throws -> [UInt8] { try await fetch(atMost: Self.timeout) }

        func fetch(atMost timeout: Duration) async throws -> [UInt8] {
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask { try await get() }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw TokenKeySet.Fault(description: "the provider does not answer in time")
                }
                defer { group.cancelAll() }
                guard let bytes = try await group.next() else { throw CancellationError() }
                return bytes
            }
        }

        private func get() async throws -> [UInt8] {
            let configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            let text = text
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let request = HTTPClientRequest(url: text)
                // The group of the caller has the deadline, which is one for head and body.
                let response = try await client.execute(request, timeout: .hours(1))
                guard response.status == .ok else {
                    throw TokenKeySet.Fault(description: "the answer is \(response.status)")
                }
                do {
                    let body = try await response.body.collect(upTo: TokenKeyFile.sizeMax)
                    return Array(body.readableBytesView)
                } catch is NIOTooManyBytesError {
                    let reason = "it has more than \(TokenKeyFile.sizeMax) bytes"
                    throw TokenKeySet.Fault(description: reason)
                }
            }
        }
    }
}
#endif
