#if Server
internal import GodwitReplication
internal import GodwitTree
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// In which form a value leaves: JSON for people, unless CBOR is asked for.
enum Encoding {
    case cbor, json

    init(accepted request: Request) {
        let accepted = request.headers[.accept] ?? ""
        self = accepted.contains("application/cbor") ? .cbor : .json
    }

    /// The encoding of a request's body; nil for another one than these two.
    init?(of request: Request) {
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.lowercased()
        switch type?.filter({ $0 != " " }) {
        case "application/json": self = .json
        case "application/cbor": self = .cbor
        default: return nil
        }
    }
}

extension Response {
    init(status: HTTPResponse.Status, value: Value) {
        self.init(status: status, value: value, encoding: .json)
    }

    init(status: HTTPResponse.Status, value: Value, encoding: Encoding) {
        switch encoding {
        case .cbor:
            self.init(
                status: status,
                headers: [.contentType: "application/cbor"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.canonicalBytes))
            )
        case .json:
            self.init(
                status: status,
                headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: value.jsonText() + "\n"))
            )
        }
    }

    /// A refusal that a program can read: a word for why, and a sentence for people.
    init(refusing status: HTTPResponse.Status, code: String, message: String) {
        self.init(
            status: status,
            value: ["error": .string(Key(code)), "message": .string(Key(message))]
        )
    }

    init(refusing error: ReplicationError) {
        let status = HTTPResponse.Status(code: error.httpStatus)
        self.init(refusing: status, code: error.code, message: error.description)
    }
}
#endif
