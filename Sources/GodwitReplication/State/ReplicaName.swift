/// The name of a replica, as it stands in URLs.
public struct ReplicaName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(ReplicationError) {
        let isAllowed = text.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                || "._-".unicodeScalars.contains($0)
        }
        guard isAllowed, (1...128).contains(text.count), text.contains(where: { $0 != "." }) else {
            throw .invalidName(text)
        }
        self.text = text
    }
}

extension ReplicaName: ExpressibleByStringLiteral {
    /// - Precondition: The literal is a name; a text that a person has typed goes through ``init(_:)``.
    public init(stringLiteral text: String) {
        do throws(ReplicationError) {
            try self.init(text)
        } catch {
            preconditionFailure(error.description)
        }
    }
}

extension ReplicaName: CustomStringConvertible {
    public var description: String { text }
}
