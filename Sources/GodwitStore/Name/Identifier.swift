internal import GodwitTree

/// 128 random bits that no other device has.
public struct Identifier: Hashable, Sendable {
    public static let sizeInBytes = 16

    public let bytes: [UInt8]

    /// Takes over bytes that were stored or sent; nil unless there are exactly 16.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        self.bytes = bytes
    }

    /// Reads 32 hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = [UInt8](hex: text) else { return nil }
        self.init(bytes: bytes)
    }

    package init(high: UInt64, low: UInt64) {
        bytes = [high, low].flatMap { word in withUnsafeBytes(of: word.bigEndian, Array.init) }
    }
}

extension Identifier: CustomStringConvertible {
    public var description: String { bytes.hex }
}

extension Identifier: Codable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let identifier = Identifier(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not 32 hexadecimal digits"
            )
        }
        self = identifier
    }
}

/// Where identifiers come from: handed in, so that a test gets the same ones every time.
public struct Identifiers: Sendable {
    private let make: @Sendable () -> Identifier

    public init(_ make: @escaping @Sendable () -> Identifier) { self.make = make }

    public func next() -> Identifier { make() }

    /// The system's secure random numbers.
    public static let random = Identifiers {
        var source = SystemRandomNumberGenerator()
        return Identifier(high: source.next(), low: source.next())
    }
}
