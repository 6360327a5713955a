/// What the device has at the moment: network and power.
public struct Conditions: Hashable, Sendable {
    public var isOnline: Bool
    /// Whether data costs money, or is to be saved.
    public var isMetered: Bool
    public var isOnExternalPower: Bool

    public init(isOnline: Bool = true, isMetered: Bool = false, isOnExternalPower: Bool = true) {
        self.isOnline = isOnline
        self.isMetered = isMetered
        self.isOnExternalPower = isOnExternalPower
    }
}

/// What a pipeline has to have before it starts anything.
public struct Requirements: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let network = Requirements(rawValue: 1)
    public static let unmeteredNetwork = Requirements(rawValue: 2)
    public static let externalPower = Requirements(rawValue: 4)

    /// What of it is missing.
    func missing(in conditions: Conditions) -> Requirements {
        var missing = self
        if conditions.isOnline { missing.remove(.network) }
        if conditions.isOnline, !conditions.isMetered { missing.remove(.unmeteredNetwork) }
        if conditions.isOnExternalPower { missing.remove(.externalPower) }
        return missing
    }
}

extension Requirements: CustomStringConvertible {
    public var description: String {
        let words: [(Requirements, String)] = [
            (.network, "network"), (.unmeteredNetwork, "unmetered network"),
            (.externalPower, "external power"),
        ]
        return words.filter { contains($0.0) }.map(\.1).joined(separator: " and ")
    }
}
