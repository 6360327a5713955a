#if Server
package import GodwitTree

/// Signs tokens, as the service does that a server takes them from.
package struct TokenSigner: Sendable {
    private let key: TokenKey

    /// What a token says.
    package struct Claims: Sendable {
        package var subject: String
        package var rights: Rights
        package var issuer: String
        package var audience: String?

        package init(subject: String, rights: Rights, issuer: String, audience: String? = nil) {
            (self.subject, self.rights) = (subject, rights)
            (self.issuer, self.audience) = (issuer, audience)
        }
    }

    /// - Parameter privateKey: A JSON Web Key with its private part.
    package init(privateKey: Value) async throws(AccessError) {
        do throws(TokenKey.Fault) {
            key = try await TokenKey(privateKey, isPrivate: true)
        } catch {
            switch error {
            case .isOfOtherUse(let reason), .isMalformed(let reason):
                throw .unusableSigningKey(reason: reason)
            }
        }
    }

    /// - Parameters:
    ///   - now: The calendar's time, in seconds since 1970.
    ///   - lifetime: How many seconds later the token ends.
    package func token(_ claims: Claims, at now: Int64, lifetime: Int64) throws -> String {
        var map: Value.Map = [
            "iss": .string(Key(claims.issuer)),
            "sub": .string(Key(claims.subject)),
            "iat": .int(now),
            "exp": .int(now + lifetime),
            "godwit": claims.rights.value,
        ]
        map["aud"] = claims.audience.map { .string(Key($0)) }
        return try key.token(key.header, .map(map))
    }
}

/// What a token says, and whether a server would take it.
package struct TokenInspection: Sendable {
    package let header: Value
    package let claims: Value
    /// Why a server would refuse the token; nil when it would take it.
    package let refusal: String?

    /// - Parameters:
    ///   - rules: Those of the server; nil to look alone.
    ///   - keySet: What the file of the key set has.
    ///   - now: The calendar's time, in seconds since 1970.
    /// - Throws: ``AccessError/unusableKeySet(path:reason:)``; ``AccessError/unreadableToken(reason:)``.
    package init(
        _ text: String,
        _ rules: (TokenRules, keySet: [UInt8])?,
        at now: Double
    ) async throws(AccessError) {
        let token: SignedToken
        do throws(AccessRefusal) {
            token = try SignedToken(text)
            (header, claims) = (token.header, try token.claims())
        } catch {
            throw .unreadableToken(reason: error.reason)
        }
        guard let (rules, bytes) = rules else {
            refusal = nil
            return
        }
        let keys: TokenKeySet
        do throws(TokenKeySet.Fault) {
            keys = try await TokenKeySet(bytes)
        } catch {
            throw .unusableKeySet(path: rules.keySet, reason: error.description)
        }
        do throws(AccessRefusal) {
            _ = try rules.principal(keys.claims(of: token), at: now)
            refusal = nil
        } catch {
            refusal = error.reason
        }
    }
}
#endif
