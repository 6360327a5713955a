#if Server
internal import Foundation
internal import GodwitTree
internal import JWTKit

/// A key of a JSON Web Key Set, which has one algorithm.
///
/// JWTKit computes and checks signatures, and does nothing else here: its own look-up takes a default key
/// where it does not know the one that a token names.
struct TokenKey: Sendable {
    let id: String
    let algorithm: Algorithm
    private let signer: any JWTAlgorithm

    enum Algorithm: String, CaseIterable, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
        case eddsa = "EdDSA"
        case hs256 = "HS256"
    }

    /// The shortest secret for HS256, in bytes (RFC 7518, section 3.2).
    static let secretSizeMin = 32

    /// Whether the token names the key and its algorithm, and has its signature.
    func hasSigned(_ token: SignedToken) -> Bool {
        guard token.keyID == id, token.algorithm == algorithm.rawValue else { return false }
        return (try? signer.verify(token.signature, signs: token.signedBytes)) ?? false
    }

    /// What a token of the key says about itself.
    var header: Value {
        ["alg": .string(Key(algorithm.rawValue)), "kid": .string(Key(id)), "typ": "JWT"]
    }

    /// The token of a header and claims, signed.
    func token(_ header: Value, _ claims: Value) throws -> String {
        let parts = [header, claims].map { Base64URL.encoded($0.jsonText().utf8) }
        let text = parts.joined(separator: ".")
        return text + "." + Base64URL.encoded(try signer.sign(Array(text.utf8)))
    }
}

// MARK: - Reading

extension TokenKey {
    enum Fault: Error {
        /// The key is for something else, and no reason to refuse its set.
        case isOfOtherUse(String)
        case isMalformed(String)
    }

    /// - Parameter isPrivate: Whether the key signs; else a private part is left aside.
    init(_ key: Value, isPrivate: Bool = false) async throws(Fault) {
        guard let id = key["kid"]?.text, !id.isEmpty else { throw .isOfOtherUse("it has no kid") }
        self.id = id
        guard key["use"].map({ $0 == "sig" }) ?? true else {
            throw .isOfOtherUse("it does not sign")
        }
        // RFC 7517, section 4.3.
        let work = isPrivate ? "sign" : "verify"
        guard key["key_ops"].map({ $0.list?.contains(.string(Key(work))) ?? false }) ?? true else {
            throw .isOfOtherUse("its key_ops do not have \(work)")
        }
        algorithm = try Self.algorithm(of: key)
        do {
            signer = try await Self.signer(key, algorithm, isPrivate: isPrivate)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .isMalformed("\(error)")
        }
    }

    private static func algorithm(of key: Value) throws(Fault) -> Algorithm {
        let algorithm: Algorithm? =
            switch (key["kty"]?.text, key["crv"]?.text) {
            case ("RSA", nil): .rs256
            case ("EC", "P-256"): .es256
            case ("OKP", "Ed25519"): .eddsa
            case ("oct", nil): .hs256
            default: nil
            }
        guard let algorithm, key["alg"].map({ $0.text == algorithm.rawValue }) ?? true else {
            let names = Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw .isOfOtherUse("it is for none of \(names)")
        }
        return algorithm
    }

    private static func signer(
        _ key: Value,
        _ algorithm: Algorithm,
        isPrivate: Bool
    ) async throws -> any JWTAlgorithm {
        let id = JWKIdentifier(string: "key")
        let keys = JWTKeyCollection()
        let secret = isPrivate ? key["d"]?.text : nil
        guard !isPrivate || secret != nil || algorithm == .hs256 else {
            throw Fault.isMalformed("it has no private part")
        }
        switch algorithm {
        case .rs256:
            let (n, e) = (key["n"]?.text, key["e"]?.text)
            let jwk = JWK.rsa(
                .rs256,
                identifier: id,
                modulus: n,
                exponent: e,
                privateExponent: secret
            )
            try await keys.add(jwk: jwk, isDefault: false)
        case .es256:
            let (x, y) = (key["x"]?.text, key["y"]?.text)
            let jwk = JWK.ecdsa(
                .es256,
                identifier: id,
                x: x,
                y: y,
                curve: .p256,
                privateKey: secret
            )
            try await keys.add(jwk: jwk, isDefault: false)
        case .eddsa:
            let x = key["x"]?.text
            let jwk = JWK.octetKeyPair(
                .eddsa,
                identifier: id,
                x: x,
                y: nil,
                curve: .ed25519,
                privateKey: secret
            )
            try await keys.add(jwk: jwk, isDefault: false)
        case .hs256:
            guard let bytes = key["k"]?.text.flatMap({ Base64URL.decoded($0) }),
                bytes.count >= secretSizeMin
            else { throw Fault.isMalformed("its secret has fewer than \(secretSizeMin) bytes") }
            await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256, kid: id)
        }
        return try await keys.getKey(for: id, alg: algorithm.rawValue)
    }
}
#endif
