import GodwitTree

@testable import GodwitServer

/// The keys that the tests sign tokens with, and the set by which a server knows them.
///
/// They were made for these tests, and sign nothing else.
enum TokenKeys {
    static let rsa: Value = [
        "kty": "RSA",
        "kid": "rsa",
        "alg": "RS256",
        "n": """
        1LWYYUpuKntq6uRFmegXsqIhUPxGi-akN_A0hVSjFEYX7b30ku3epNiSyZUxcx7e7i6lr5brTJUA\
        Cg_c6-U7cGDIvy7ZimBptFFIEghtJ3whUYorb7I5w9y7apREjXFtp5xvQGY3gDKjqXq303-\
        7mOTbNQEz013U62BfqvCCKmqFliIvZRCwkJAu7v8p4tmGQ_x9ornTPiK8DIa7v6L2buMBFYua6ql\
        Czi603mwFvtaNgCmVWfZWyFsujhNknYvmT2UE2TYQ_knrE_6OpVFZ8w1zCBHtNZfe4tA3EkPp191\
        Vivz7TaQuctUZ-MfgeL6xaEjF_nFYD6ojfMP2xcQa_Q
        """,
        "e": "AQAB",
        "d": """
        AaA0CTWqrbqc7gKEfAE_tx7mnsoYLEcSb8FaAWqMxuGkmq2rl3jnzVOWHEzT4IOhTr7pXMl27xz_\
        b6mV4HFeLi_LMQI7FEPu4uYxJRQj6MaZ3EKbA42gQ-c6wSffde5NQ9fzVhHB8FdSvr-\
        gSpFMyNsiSB-EJXmE4FoE-SyWmMY365MT7K2ApgcFc-\
        CPZBUIZ65YrKCmUb8MYDik9EdXzvvdMPiIg5G3-H_-hV7QPKCPopg_cIQLMmUnq_U6FtaVpSkfpf\
        TiETt2sjw8LVAYMuXGA1AXh2uXBOLaFBM5Us2_tYzECLS1LwUG8I-\
        PMGnKKOqhag0yHvZJUlhzSr5zWQ
        """,
    ]

    static let ec: Value = [
        "kty": "EC",
        "kid": "ec",
        "crv": "P-256",
        "x": "8_A_9A8NTNISoYl3rm21BaFPkv8aQkfFicc33L6YE_o",
        "y": "mYQZ0_A1YMWBsk7Z4uNLflpkCtZlvt3mvPjOnObco0g",
        "d": "Dd3aosN4tmyDelVYc5HcpjTwZI2aKXm_I7SxzABpjWs",
    ]

    static let ed: Value = [
        "kty": "OKP",
        "kid": "ed",
        "crv": "Ed25519",
        "x": "ZDYmK5I8zrHk3E53bAaa7KRxCeWwZAo8N9WJNqSOKOs",
        "d": "uxVBZtMwQUKYHFzeDA-gAEZKbs9UD0jOKHaqpNgShYY",
    ]

    static let hs: Value = [
        "kty": "oct",
        "kid": "hs",
        "alg": "HS256",
        "k": "YSBzZWNyZXQgb2YgdGhpcnR5LXR3byBieXRlcywgaG0",
    ]

    static let all = [rsa, ec, ed, hs]

    /// The public halves.
    static var keySet: Value { keySet(of: all) }

    static func keySet(of keys: [Value]) -> Value {
        ["keys": .list(Value.List(keys.map { $0.without("d") }))]
    }
}

extension Value {
    /// The map without a field.
    func without(_ field: Key) -> Value {
        var map = map ?? [:]
        map[field] = nil
        return .map(map)
    }

    /// The map with a field.
    func with(_ field: Key, _ value: Value) -> Value {
        var map = map ?? [:]
        map[field] = value
        return .map(map)
    }

    /// How a token of the key begins.
    func header(_ algorithm: Key) -> Value {
        ["alg": .string(algorithm), "kid": self["kid"] ?? .null, "typ": "JWT"]
    }
}
