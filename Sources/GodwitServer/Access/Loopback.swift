#if Server
internal import NIOCore

/// The addresses that only programs of this machine reach.
enum Loopback {
    /// Not known of any name but `localhost`.
    static func contains(_ address: String) -> Bool {
        guard let plain = (try? SocketAddress(ipAddress: address, port: 0))?.ipAddress else {
            return address.lowercased() == "localhost"
        }
        return plain == "::1" || plain.hasPrefix("127.") || plain.hasPrefix("::ffff:127.")
    }
}
#endif
