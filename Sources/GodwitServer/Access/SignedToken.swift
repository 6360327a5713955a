#if Server
internal import GodwitTree

/// A JSON Web Token (RFC 7519) in its three parts, of which nothing is to be believed yet.
struct SignedToken: Sendable {
    let header: Value
    /// The algorithm and the key that the token names; the key of a server decides whether they are right.
    let algorithm: String
    let keyID: String
    let signature: [UInt8]
    /// What the signature is about.
    let signedBytes: [UInt8]
    private let payload: [UInt8]

    /// - Throws: ``AccessRefusal/invalid(_:)``.
    init(_ text: String) throws(AccessRefusal) {
        guard text.utf8.count <= BearerToken.sizeMax else {
            throw .invalid("it has more than \(BearerToken.sizeMax) bytes")
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .invalid("it has not three parts") }
        guard let header = Base64URL.decoded(parts[0]), let payload = Base64URL.decoded(parts[1]),
            let signature = Base64URL.decoded(parts[2])
        else { throw .invalid("a part is not Base64URL") }
        self.header = try Self.map(header, "header")
        guard !signature.isEmpty else { throw .invalid("it has no signature") }
        self.payload = payload
        self.signature = signature
        signedBytes = Array(parts[0].utf8) + [UInt8(ascii: ".")] + Array(parts[1].utf8)
        (algorithm, keyID) = try Self.names(in: self.header)
    }

    /// The claims, of which a signature has to say that they are true.
    func claims() throws(AccessRefusal) -> Value { try Self.map(payload, "payload") }

    /// What a header says that counts; `jku`, `jwk`, `x5u` and `x5c` count for nothing.
    private static func names(
        in header: Value
    ) throws(AccessRefusal) -> (algorithm: String, keyID: String) {
        guard let algorithm = header["alg"]?.text else { throw .invalid("it names no algorithm") }
        guard let keyID = header["kid"]?.text else { throw .invalid("it names no key") }
        // RFC 7515, section 4.1.11: an extension that is not understood has to be refused.
        guard header["crit"] == nil else { throw .invalid("it has an extension that is critical") }
        let type = (header["typ"] ?? "JWT").text?.lowercased()
        guard let type, ["jwt", "at+jwt", "application/at+jwt"].contains(type) else {
            throw .invalid("it is of another type")
        }
        return (algorithm, keyID)
    }

    private static func map(_ bytes: [UInt8], _ part: String) throws(AccessRefusal) -> Value {
        guard let value = try? Value(json: bytes, depthMax: 32), value.map != nil else {
            throw .invalid("the \(part) is no JSON object")
        }
        return value
    }
}
#endif
