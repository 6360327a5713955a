import Foundation
import GodwitTestKit
import Synchronization

/// A proxy on loopback that delays, cuts and damages what goes through it.
final class UnreliableProxy: Sendable {
    struct CannotListen: Error {}

    let port: Int
    private let target: Int
    private let listener: Int32
    private let state: Mutex<State>
    /// Nothing signals it: a wait for it is a delay.
    private let never = DispatchSemaphore(value: 0)

    private struct State {
        var random: Seeded
        var isClosed = false
        /// How many chunks were delayed, damaged and not sent on.
        var counts = (delayed: 0, damaged: 0, cut: 0)
    }

    private enum Fate {
        case pass, delay(milliseconds: Int), damage, cut
    }

    init(to target: Int, seed: UInt64) throws {
        self.target = target
        state = Mutex(State(random: Seeded(seed: seed)))
        (listener, port) = try Self.bound()
        guard listen(listener, 64) == 0 else { throw CannotListen() }
        Thread { [self] in accept() }.start()
    }

    /// A port of loopback that no program has.
    static func freePort() throws -> Int {
        let (socket, port) = try bound()
        _ = Foundation.close(socket)
        return port
    }

    private static func bound() throws -> (socket: Int32, port: Int) {
        let new = socket(AF_INET, stream, 0)
        var address = address(port: 0)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(new, $0, addressSize) == 0
            }
        }
        var size = addressSize
        let isNamed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(new, $0, &size) == 0
            }
        }
        guard new >= 0, isBound, isNamed else {
            throw CannotListen()
        }
        return (new, Int(UInt16(bigEndian: address.sin_port)))
    }

    var url: String { "http://127.0.0.1:\(port)" }

    var counts: (delayed: Int, damaged: Int, cut: Int) { state.withLock(\.counts) }

    /// Takes no more connections: until then it is there.
    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        if !wasClosed { shutdown(listener, Self.both) }
    }

    // MARK: Connections

    private func accept() {
        while case let client = Foundation.accept(listener, nil, nil), client >= 0 {
            let server = socket(AF_INET, Self.stream, 0)
            var address = Self.address(port: UInt16(target))
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, Self.addressSize) == 0
                }
            }
            guard isConnected else {
                _ = Foundation.close(client)
                _ = Foundation.close(server)
                continue
            }
            let ends = Ends(client, server)
            Thread { [self] in pump(client, server, ends) }.start()
            Thread { [self] in pump(server, client, ends) }.start()
        }
        _ = Foundation.close(listener)
    }

    /// Two sockets that are closed when both directions have ended.
    private final class Ends: Sendable {
        private let sockets: [Int32]
        private let count = Mutex(2)

        init(_ sockets: Int32...) { self.sockets = sockets }

        func end() {
            for socket in sockets { shutdown(socket, UnreliableProxy.both) }
            let isLast = count.withLock { count in
                count -= 1
                return count == 0
            }
            if isLast { for socket in sockets { _ = Foundation.close(socket) } }
        }
    }

    private func pump(_ source: Int32, _ target: Int32, _ ends: Ends) {
        defer { ends.end() }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while case let count = recv(source, &buffer, buffer.count, 0), count > 0 {
            switch fate(of: buffer[..<count]) {
            case .pass: break
            case .delay(let time): _ = never.wait(timeout: .now() + .milliseconds(time))
            case .damage: buffer[count - 1] ^= 1
            case .cut: return
            }
            var sent = 0
            while sent < count {
                let more = buffer[sent..<count].withUnsafeBytes {
                    send(target, $0.baseAddress, $0.count, Self.sendFlags)
                }
                guard more > 0 else { return }
                sent += more
            }
        }
    }

    /// Heads of messages stay whole: a damaged path would be another request.
    private func fate(of chunk: ArraySlice<UInt8>) -> Fate {
        let end = Array("\r\n\r\n".utf8)
        let hasBody = !chunk.suffix(end.count).elementsEqual(end)
        return state.withLock { state in
            switch Int.random(in: 0..<100, using: &state.random) {
            case 0...1:
                state.counts.cut += 1
                return .cut
            case 2...4 where hasBody:
                state.counts.damaged += 1
                return .damage
            case 5...10:
                state.counts.delayed += 1
                return .delay(milliseconds: Int.random(in: 1...20, using: &state.random))
            default: return .pass
            }
        }
    }

    // MARK: Sockets

    private static let addressSize = socklen_t(MemoryLayout<sockaddr_in>.size)
    private static let both = Int32(SHUT_RDWR)
    #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    private static let sendFlags: Int32 = 0
    #else
    private static let stream = Int32(SOCK_STREAM.rawValue)
    /// A peer that is gone is an error, and no signal.
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
