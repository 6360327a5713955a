extension Value {
    private static let stringMinInBytes = 16

    /// Whether this is a short string, an int or a small record with an `id` or a text.
    var isToken: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .int: true
        case .map: usualName != nil || !texts.isEmpty
        case .null, .bool, .double, .bytes, .list: false
        }
    }

    private static let evidenceMin = 3

    /// Whether this says so much that it hardly stands in two places by chance: a long text, an
    /// identity that is a string, under a usual name, or several words and numbers.
    var isDistinctive: Bool { evidence(atMost: Self.evidenceMin) >= Self.evidenceMin }

    /// The words and numbers in this value, up to a limit.
    func evidence(atMost limit: Int) -> Int {
        guard limit > 0 else { return 0 }
        switch self {
        case .null, .bool: return 0
        case .int, .double, .bytes: return 1
        case .string(let text):
            return text.sizeInBytes >= Self.stringMinInBytes ? limit : text.isEmpty ? 0 : 1
        case .list(let items):
            var sum = 0
            for item in items where sum < limit { sum += item.evidence(atMost: limit - sum) }
            return sum
        case .map(let map):
            let isNamed = ItemIdentity.usualNames.contains { key in
                if case .string(let name)? = map[key] { !name.isEmpty } else { false }
            }
            if isNamed { return limit }
            var sum = 0
            for entry in map where sum < limit { sum += entry.value.evidence(atMost: limit - sum) }
            return sum
        }
    }
}
