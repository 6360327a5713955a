#if Server
internal import GodwitTree

/// The keys whose tokens are taken, by their ids.
struct TokenKeySet: Sendable {
    private let keys: [String: TokenKey]

    /// Why a set cannot be used.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads a JSON Web Key Set; keys for something else than signatures are passed over.
    init(_ bytes: [UInt8]) async throws(Fault) {
        guard let value = try? Value(json: bytes, depthMax: 32), let list = value["keys"]?.list
        else {
            throw Fault(description: #"it is no JSON object {"keys": […]}"#)
        }
        var keys: [String: TokenKey] = [:]
        var passedOver: [String] = []
        for (number, item) in list.enumerated() {
            do {
                let key = try await TokenKey(item)
                guard keys.updateValue(key, forKey: key.id) == nil else {
                    throw TokenKey.Fault.isMalformed("its kid is that of another key")
                }
            } catch TokenKey.Fault.isOfOtherUse(let reason) {
                passedOver.append("; key \(number + 1): \(reason)")
            } catch TokenKey.Fault.isMalformed(let reason) {
                throw Fault(description: "key \(number + 1): \(reason)")
            } catch {
                throw Fault(description: "key \(number + 1): \(error)")
            }
        }
        guard !keys.isEmpty else {
            throw Fault(description: "it has no key for tokens" + passedOver.joined())
        }
        self.keys = keys
    }

    func hasKey(_ id: String) -> Bool { keys[id] != nil }

    /// The claims of a token, if a key of the set has signed it.
    func claims(of token: SignedToken) throws(AccessRefusal) -> Value {
        guard let key = keys[token.keyID] else { throw .invalid("its key is not in the key set") }
        guard token.algorithm == key.algorithm.rawValue else {
            throw .invalid("its algorithm is not that of its key")
        }
        guard key.hasSigned(token) else { throw .invalid("its signature is wrong") }
        return try token.claims()
    }
}
#endif
