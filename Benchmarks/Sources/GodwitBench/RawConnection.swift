import Foundation

/// A connection that sends bytes which were made before, so that the client takes little of the machine.
///
/// Not for several threads at once.
struct RawConnection {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private let socket: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let socket = Foundation.socket(AF_INET, kind, 0)
        self.socket = socket
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var isOn: Int32 = 1
        setsockopt(
            socket,
            Int32(IPPROTO_TCP),
            TCP_NODELAY,
            &isOn,
            socklen_t(MemoryLayout<Int32>.size)
        )
        guard socket >= 0, result == 0 else { throw Failed(description: "errno \(errno)") }
    }

    func close() { _ = Foundation.close(socket) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failed(description: "write: errno \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    /// What has arrived, at least one byte of it.
    func receive() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(socket, &bytes, bytes.count)
        guard count > 0 else { throw Failed(description: "read: \(count), errno \(errno)") }
        return Array(bytes.prefix(count))
    }

    /// Sends a request, and reads its answer.
    ///
    /// - Throws: ``Failed`` for any answer but 200.
    func exchange(_ request: [UInt8]) throws {
        let status = try status(of: request)
        guard status == 200 else { throw Failed(description: "status \(status)") }
    }

    /// Sends a request, reads its answer, and returns its status.
    func status(of request: [UInt8]) throws -> Int {
        try send(request)
        var answer: [UInt8] = []
        while true {
            answer += try receive()
            guard let end = Self.end(ofHeadIn: answer) else { continue }
            let head = String(decoding: answer[..<end], as: UTF8.self).lowercased()
            guard head.hasPrefix("http/1.1 "), let status = Int(head.dropFirst(9).prefix(3)),
                let field = head.range(of: "content-length: "),
                let length = Int(head[field.upperBound...].prefix { $0.isNumber })
            else { throw Failed(description: head) }
            if answer.count - end >= length { return status }
        }
    }

    private static func end(ofHeadIn bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10]) }
            .map { $0 + 4 }
    }
}
