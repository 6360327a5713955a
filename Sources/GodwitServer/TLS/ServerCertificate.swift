#if Server
internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// The certificate of a server, which is read again when its files have changed.
///
/// Files that do not belong together, as between two steps of a renewal, leave the last good ones.
final class ServerCertificate: Sendable {
    /// A certificate with those above it, and its key.
    private struct Pair {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource

        var override: NIOSSLContextConfigurationOverride {
            var override = NIOSSLContextConfigurationOverride()
            (override.certificateChain, override.privateKey) = (chain, key)
            return override
        }
    }

    private struct State {
        var stamps: [FileStamp?]
        var pair: Pair
        /// Why the files could not be used at the last look: a right to read them leaves no stamp.
        var fault: AccessError?
    }

    private let files: TLSFiles
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let state: Mutex<State>

    /// - Throws: ``AccessError/unusableCertificate(path:reason:)``.
    init(
        _ files: TLSFiles,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) throws(AccessError) {
        let stamps = Self.stamps(of: files)
        state = Mutex(State(stamps: stamps, pair: try Self.read(files)))
        (self.files, self.now, self.logger) = (files, now, logger)
    }

    /// TLS 1.2 and later, with the certificate as the files have it when a connection begins.
    var configuration: TLSConfiguration {
        let pair = state.withLock(\.pair)
        var configuration = Self.configuration(of: pair)
        // Not on the thread of the connections: BoringSSL would leave them the errors of bad files.
        configuration.sslContextCallback = { [self] _, promise in
            promise.completeWithTask { self.current().override }
        }
        return configuration
    }

    /// - Throws: ``AccessError/unusableCertificate(path:reason:)``.
    static func check(_ files: TLSFiles) throws(AccessError) { _ = try read(files) }

    private func current() -> Pair {
        state.withLock { state in
            let stamps = Self.stamps(of: files)
            let areRecent = stamps.contains { $0?.isRecent(at: now()) ?? false }
            guard stamps != state.stamps || areRecent || state.fault != nil else {
                return state.pair
            }
            do throws(AccessError) {
                (state.pair, state.fault) = (try Self.read(files), nil)
            } catch {
                // It is told once for each change.
                if stamps != state.stamps || error != state.fault {
                    logger.error("the last good certificate stays", metadata: ["error": "\(error)"])
                }
                state.fault = error
            }
            state.stamps = stamps
            return state.pair
        }
    }

    private static func stamps(of files: TLSFiles) -> [FileStamp?] {
        [files.certificates, files.privateKey].map { FileStamp($0) }
    }

    private static func read(_ files: TLSFiles) throws(AccessError) -> Pair {
        // A pipe would be waited for.
        for path in [files.certificates, files.privateKey] {
            guard FileStamp(path)?.isRegularFile ?? false else {
                throw .unusableCertificate(path: path, reason: "it cannot be read")
            }
        }
        var path = files.certificates
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(path)
            path = files.privateKey
            let key = try NIOSSLPrivateKey(file: path, format: .pem)
            let pair = Pair(chain: chain.map { .certificate($0) }, key: .privateKey(key))
            // It refuses a key of another certificate.
            _ = try NIOSSLContext(configuration: configuration(of: pair))
            return pair
        } catch {
            throw .unusableCertificate(path: path, reason: "\(error)")
        }
    }

    private static func configuration(of pair: Pair) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: pair.chain,
            privateKey: pair.key
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }
}
#endif
