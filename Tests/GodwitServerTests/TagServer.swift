import Foundation
import GodwitTestKit
import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// A cloud over real HTTP: contacts with ETags, a ledger that knows idempotency keys.
///
/// It keeps a log of all that it has done, and loses an answer now and then: after the work.
final class TagServer: Sendable {
    struct Write: Hashable, Sendable {
        let name: String
        let key: String
        let body: String
    }

    private struct State {
        var contacts: [String: (tag: Int, write: Write)] = [:]
        var writes: [Write] = []
        var charges: [String: String] = [:]
        var chargeCount = 0
        var conflictCount = 0
        var random: Seeded
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: Seeded(seed: seed))) }

    /// All that was written, in order.
    var writes: [Write] { state.withLock { $0.writes } }
    var contacts: [String: String] { state.withLock { $0.contacts.mapValues(\.write.body) } }
    /// The ledger's lines, and how often one was added.
    var charges: (lines: Set<String>, count: Int) {
        state.withLock { (Set($0.charges.values), $0.chargeCount) }
    }
    /// The keys of all effects.
    var keys: Set<String> {
        state.withLock { Set($0.writes.map(\.key)).union($0.charges.keys) }
    }
    var conflictCount: Int { state.withLock { $0.conflictCount } }

    /// Serves until the surrounding task is cancelled.
    func run(_ whenListening: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router()
        router.get("contacts/:name") { _, context in
            self.read(try context.parameters.require("name"))
        }
        router.put("contacts/:name") { request, context in
            let body = try await String(buffer: request.body.collect(upTo: 1 << 16))
            return self.write(try context.parameters.require("name"), body, request.headers)
        }
        router.post("charges") { request, _ in
            let body = try await String(buffer: request.body.collect(upTo: 1 << 16))
            return self.charge(body, request.headers)
        }
        var logger = Logger(label: "tag server")
        logger.logLevel = .critical
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in whenListening(channel.localAddress?.port ?? 0) },
            logger: logger
        )
        try await application.run()
    }

    private static let tag = HTTPField.Name.eTag
    private static let ifMatch = HTTPField.Name.ifMatch
    private static let ifNoneMatch = HTTPField.Name.ifNoneMatch
    private static let key = HTTPField.Name("Idempotency-Key")
    private static let lastKey = HTTPField.Name("Last-Key")

    private func header(_ name: HTTPField.Name?, in fields: HTTPFields) -> String? {
        name.flatMap { fields[$0] }
    }

    private func response(
        _ contact: (tag: Int, write: Write),
        _ status: HTTPResponse.Status
    )
        -> Response
    {
        var fields: HTTPFields = [Self.tag: "\"\(contact.tag)\""]
        if let lastKey = Self.lastKey { fields[lastKey] = contact.write.key }
        return Response(
            status: status,
            headers: fields,
            body: .init(byteBuffer: ByteBuffer(string: contact.write.body))
        )
    }

    private func read(_ name: String) -> Response {
        let contact = state.withLock { $0.contacts[name] }
        return contact.map { response($0, .ok) } ?? Response(status: .notFound)
    }

    private func write(_ name: String, _ body: String, _ fields: HTTPFields) -> Response {
        state.withLock { state in
            if state.random.happens(0.05) { return Response(status: .serviceUnavailable) }
            let old = state.contacts[name]
            let isCurrent =
                old.map { header(Self.ifMatch, in: fields) == "\"\($0.tag)\"" }
                ?? (header(Self.ifNoneMatch, in: fields) == "*")
            guard isCurrent else {
                state.conflictCount += 1
                return Response(status: .preconditionFailed)
            }
            let key = header(Self.key, in: fields) ?? ""
            let new = (tag: (old?.tag ?? 0) + 1, write: Write(name: name, key: key, body: body))
            state.contacts[name] = new
            state.writes.append(new.write)
            if state.random.happens(0.05) { return Response(status: .gatewayTimeout) }
            return response(new, old == nil ? .created : .ok)
        }
    }

    private func charge(_ line: String, _ fields: HTTPFields) -> Response {
        state.withLock { state in
            guard let key = header(Self.key, in: fields) else {
                return Response(status: .badRequest)
            }
            if state.charges[key] == nil {
                state.charges[key] = line
                state.chargeCount += 1
            }
            return Response(status: state.random.happens(0.1) ? .gatewayTimeout : .ok)
        }
    }
}
