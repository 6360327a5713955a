internal import GodwitTree

/// Reads the fields of a message, one after the other.
///
/// In every version a message is a list, whose first field is the version and whose last is the
/// seal; so that each side can tell a message of another version from a damaged one.
struct MessageFields {
    private var rest: Slice<Value.List>

    /// - Throws: ``ReplicationError/damagedMessage`` when the seal is not that of the fields.
    init(_ value: Value, version: Int64) throws(ReplicationError) {
        guard case .list(let items) = value, let seal = items.last else {
            throw .malformedMessage(reason: "a message is a list")
        }
        rest = items.dropLast()
        guard seal == .null || seal == Self.seal(of: Array(rest)) else { throw .damagedMessage }
        let found = try integer("version")
        if found < version { throw .senderIsOlder(version: found, known: version) }
        if found > version { throw .senderIsNewer(version: found, known: version) }
    }

    var hasMore: Bool { !rest.isEmpty }

    mutating func integer(_ name: String) throws(ReplicationError) -> Int64 {
        guard let integer = rest.popFirst()?.integer, integer >= 0 else {
            throw .malformedMessage(reason: "\(name) is not a number")
        }
        return integer
    }

    /// A byte string, or the hexadecimal text that stands for one in JSON.
    mutating func bytes(_ name: String) throws(ReplicationError) -> [UInt8] {
        switch rest.popFirst() {
        case .bytes(let bytes)?: return bytes
        case .string(let key)?:
            if let bytes = [UInt8](hex: key.text) { return bytes }
        default: break
        }
        throw .malformedMessage(reason: "\(name) is not a byte string")
    }

    mutating func delta() throws(ReplicationError) -> ExchangeDelta {
        guard let value = rest.popFirst() else {
            throw .malformedMessage(reason: "the delta is missing")
        }
        return try ExchangeDelta(encoded: value)
    }

    func finish() throws(ReplicationError) {
        guard rest.isEmpty else { throw .malformedMessage(reason: "there are too many fields") }
    }
}

extension MessageFields {
    static let sealSizeInBytes = 4

    /// The fields as a message: with a seal at the end, so that no damage on the way is taken for
    /// something that was said.
    static func sealed(_ fields: [Value]) -> Value { .list(fields + [seal(of: fields)]) }

    /// The first bytes of a digest of the fields; `null` in its place is a message without one,
    /// for people who write it by hand.
    private static func seal(of fields: [Value]) -> Value {
        let bytes = Value.list(fields).canonicalBytes
        let digest = Digest(of: [bytes], purpose: "godwit message 1")
        return .bytes(Array(digest.bytes.prefix(sealSizeInBytes)))
    }
}
