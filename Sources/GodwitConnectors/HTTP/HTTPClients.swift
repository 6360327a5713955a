#if HTTP
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// The HTTP clients of the program, one for each set of timeouts and roots, which stay until it ends.
enum HTTPClients {
    private struct Settings: Hashable {
        let connect: Duration
        let idle: Duration
        let roots: [NIOSSLCertificate]?
    }

    private static let clients = Mutex<[Settings: HTTPClient]>([:])

    /// - Throws: ``ConnectorError/unusableCertificates(path:reason:)``.
    static func client(
        for timeouts: HTTPTransport.Timeouts,
        _ rootCertificates: String?
    ) throws(ConnectorError) -> HTTPClient {
        let roots = try rootCertificates.map { path throws(ConnectorError) in
            do {
                return try NIOSSLCertificate.fromPEMFile(path)
            } catch {
                throw .unusableCertificates(path: path, reason: "\(error)")
            }
        }
        return clients.withLock { clients in
            let settings = Settings(connect: timeouts.connect, idle: timeouts.idle, roots: roots)
            if let client = clients[settings] { return client }
            var configuration = HTTPClient.Configuration.singletonConfiguration
            if let roots {
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.additionalTrustRoots = [.certificates(roots)]
                configuration.tlsConfiguration = tls
            }
            configuration.timeout.connect = TimeAmount(timeouts.connect)
            configuration.timeout.read = TimeAmount(timeouts.idle)
            configuration.timeout.write = TimeAmount(timeouts.idle)
            // A connection of HTTP/2 carries so many streams, and each subscription takes one for ever; and
            // one that is dead, after a sleep, would be taken again and again.
            configuration.httpVersion = .http1Only
            // Servers and proxies close connections that are silent for longer.
            configuration.connectionPool.idleTimeout = .seconds(60)
            // Each subscription takes one, and an exchange must not wait for them.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1 << 16
            // A redirection would send the token to another host.
            configuration.redirectConfiguration = .disallow
            // A server that refuses a connection is told at once, and asked again by the queue.
            configuration.connectionPool.retryConnectionEstablishment = false
            // On Apple's systems the client takes Network.framework, which knows no additional roots.
            let client = HTTPClient(
                eventLoopGroupProvider: roots == nil
                    ? .singleton : .shared(MultiThreadedEventLoopGroup.singleton),
                configuration: configuration
            )
            clients[settings] = client
            return client
        }
    }
}
#endif
