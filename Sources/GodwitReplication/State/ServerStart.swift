package import GodwitStore

/// A start of a replica's server: a number that the server draws then.
///
/// A server that is restored from a backup is started afterwards. So the first start that a device
/// has not heard of is where the line that the device knows was cut off.
package struct ServerStart: Hashable, Sendable {
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }
}

/// A start of a server, and how far it found the line of a replica.
package struct LineStart: Hashable, Sendable {
    package let start: ServerStart
    package let serial: Int64

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
