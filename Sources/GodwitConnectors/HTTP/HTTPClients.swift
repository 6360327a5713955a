#if HTTP
internal import AsyncHTTPClient
internal import NIOCore
internal import Synchronization

/// The HTTP clients of the program, one for each set of timeouts, which stay until it ends.
enum HTTPClients {
    private static let clients = Mutex<[String: HTTPClient]>([:])

    static func client(for timeouts: HTTPTransport.Timeouts) -> HTTPClient {
        clients.withLock { clients in
            let name = "\(timeouts.connect) \(timeouts.idle)"
            if let client = clients[name] { return client }
            var configuration = HTTPClient.Configuration.singletonConfiguration
            configuration.timeout.connect = TimeAmount(timeouts.connect)
            configuration.timeout.read = TimeAmount(timeouts.idle)
            configuration.timeout.write = TimeAmount(timeouts.idle)
            // Each subscription takes one, and an exchange must not wait for them.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1 << 16
            // A redirection would send the token to another host.
            configuration.redirectConfiguration = .disallow
            // A server that refuses a connection is told at once, and asked again by the queue.
            configuration.connectionPool.retryConnectionEstablishment = false
            let client = HTTPClient(
                eventLoopGroupProvider: .singleton,
                configuration: configuration
            )
            clients[name] = client
            return client
        }
    }
}
#endif
