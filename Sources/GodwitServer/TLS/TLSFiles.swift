#if Server
/// Where a server's certificate is, and its private key.
///
/// ```swift
/// let tls = TLSFiles(certificates: "/etc/godwit/fullchain.pem", privateKey: "/etc/godwit/privkey.pem")
/// try await SyncServer(
///     store: store,
///     host: "0.0.0.0",
///     options: SyncOptions(access: .keys),
///     tls: tls
/// ).run()
/// ```
///
/// The server reads the files again when they change, and connections that are open stay.
public struct TLSFiles: Hashable, Sendable {
    /// The path of a PEM file with the server's certificate, and then those between it and a root.
    public var certificates: String
    /// The path of a PEM file with the private key of the certificate.
    public var privateKey: String

    public init(certificates: String, privateKey: String) {
        (self.certificates, self.privateKey) = (certificates, privateKey)
    }

    /// - Throws: ``AccessError/unusableCertificate(path:reason:)``.
    package func check() throws(AccessError) { try ServerCertificate.check(self) }
}
#endif
