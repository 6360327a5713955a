import Godwit

/// What a chat server sends: first the roster, then presences without end.
struct Server {
    struct Presence: Sendable {
        let contact: String
        let device: String
        /// nil when the device has gone.
        let presence: Contact.Presence?
    }

    private let contactCount: Int
    private var random = SystemRandomNumberGenerator()

    private static let names = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gwen", "Hugo", "Ida"]
    private static let families = ["Byron", "Curie", "Darwin", "Euler", "Faraday", "Gauss"]

    init(contactCount: Int) { self.contactCount = contactCount }

    var roster: [String: Contact] {
        var roster: [String: Contact] = [:]
        for number in 0..<contactCount {
            let first = Self.names[number % Self.names.count]
            let family = Self.families[number / Self.names.count % Self.families.count]
            roster["\(number)@example.org"] = Contact(
                name: "\(first) \(family) \(number)",
                groups: [number.isMultiple(of: 3) ? "Friends" : "Work"]
            )
        }
        return roster
    }

    /// Somebody comes, goes, or changes the state; mostly the same few people.
    mutating func nextPresence() -> Presence {
        let isRestless = Int.random(in: 0..<4, using: &random) > 0
        let range = isRestless ? max(1, contactCount / 20) : contactCount
        return Presence(
            contact: "\(Int.random(in: 0..<range, using: &random))@example.org",
            device: ["phone", "desk"].randomElement(using: &random) ?? "phone",
            presence: [.online, .away, .busy, nil].randomElement(using: &random) ?? nil
        )
    }
}
