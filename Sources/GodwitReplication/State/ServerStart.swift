package import GodwitStore

/// A start of a replica's server: a number that the server draws then.
///
/// A server that is restored from a backup is started afterwards. So the first start that a device
/// has not heard of is where the line that the device knows was cut off.
public struct ServerStart: Hashable, Sendable {
    public let number: UInt32

    public init(_ number: UInt32) { self.number = number }
}

/// A start of a server, and how far it found the line of a replica.
public struct LineStart: Hashable, Sendable {
    public let start: ServerStart
    public let serial: Int64

    /// How many starts of a line its server remembers, and a device.
    static let rememberedMax = 64
}

extension ServerStart {
    package init(_ identifier: Identifier) { self.init(identifier.randomNumber) }
}

extension Identifier {
    /// Four of the random bytes.
    var randomNumber: UInt32 { bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}
