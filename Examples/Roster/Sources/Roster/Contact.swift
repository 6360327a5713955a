import Godwit

/// Somebody in the roster, and where he or she is online.
struct Contact: Codable, Hashable, Sendable {
    enum Presence: String, Codable, Comparable, CaseIterable {
        case online, away, busy, offline

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
        static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    var name: String
    var groups: [String]
    /// The presence of each device that is connected.
    var devices: [String: Presence] = [:]

    /// How the contact is shown: by the device that is most present.
    var presence: Presence { devices.values.min() ?? .offline }
}

extension Store.Collection<Contact> {
    static var contacts: Self { Self("contacts") }
}
