import Foundation

/// A client that begins a request, and says no more.
final class SilentClient: Sendable {
    struct Failed: Error {}

    private let client: Int32

    deinit { close(client) }

    init(port: Int, beginning: String) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        client = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0, write(client, beginning, beginning.utf8.count) >= 0 else {
            throw Failed()
        }
    }

    /// Waits until the server closes the connection.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [client] in
                var byte: UInt8 = 0
                while read(client, &byte, 1) > 0 {}
                continuation.resume()
            }
        }
    }

    /// The first line of the server's answer.
    func firstLine() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [client] in
                var (line, byte): ([UInt8], UInt8) = ([], 0)
                while read(client, &byte, 1) > 0, byte != UInt8(ascii: "\r") { line.append(byte) }
                continuation.resume(returning: String(decoding: line, as: UTF8.self))
            }
        }
    }
}
