public import GodwitStore

/// Which operation: 128 bits that are never used again, on any device.
///
/// The queue makes them of a random half, drawn once per launch, and the operation's number. An
/// app may bring identifiers of its own, to name an operation before it is enqueued.
public struct OperationID: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    public init(_ identifier: Identifier) {
        (high, low) = identifier.bytes.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(as: UInt64.self).bigEndian,
                bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
            )
        }
    }

    init(launch: UInt64, number: OperationNumber) {
        high = launch
        low = UInt64(bitPattern: number.rawValue)
    }

    /// Reads 32 hexadecimal digits.
    public init?(_ text: String) {
        guard let identifier = Identifier(text) else { return nil }
        self.init(identifier)
    }

    public var identifier: Identifier { Identifier(high: high, low: low) }

    /// The number that is part of it, if the queue has made it.
    var suggestedNumber: OperationNumber { OperationNumber(rawValue: Int64(bitPattern: low)) }
}

extension OperationID: CustomStringConvertible, Codable {
    public var description: String { identifier.description }

    public func encode(to encoder: any Encoder) throws { try identifier.encode(to: encoder) }

    public init(from decoder: any Decoder) throws { self.init(try Identifier(from: decoder)) }
}
