public import GodwitTree

extension Seeded {
    /// A random value, small enough that similar ones meet often.
    ///
    /// - Parameter depth: How many containers may be nested in each other.
    public mutating func value(depth: Int = 3) -> Value {
        let kind = Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &self)
        switch kind {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .int(.random(in: -3...3, using: &self))
        case 3: return .double(Finite(Double.random(in: -2...2, using: &self)) ?? 0.5)
        case 4, 5: return .string(key())
        case 6, 7: return .map(map(depth: depth - 1))
        default: return .list(list(depth: depth - 1))
        }
    }

    /// A random map.
    public mutating func map(depth: Int = 3) -> Value.Map {
        var map = Value.Map()
        for _ in 0..<Int.random(in: 0...4, using: &self) { map[key()] = value(depth: depth) }
        return map
    }

    /// A random version of a value: a few things in it are changed, some moved.
    public mutating func edited(_ value: Value) -> Value {
        switch value {
        case .map(var map) where happens(0.9):
            for entry in map where happens(0.4) {
                map[entry.key] = happens(0.3) ? nil : edited(entry.value)
            }
            if happens(0.3) { map[key()] = self.value(depth: 1) }
            return .map(map)
        case .list(var items) where happens(0.9):
            for index in items.indices where happens(0.2) { items[index] = edited(items[index]) }
            if happens(0.4), !items.isEmpty { items.remove(at: position(in: items)) }
            if happens(0.5) {
                let place = Int.random(in: 0...items.count, using: &self)
                items.insert(self.value(depth: 1), at: place)
            }
            if happens(0.4), !items.isEmpty {
                let item = items.remove(at: position(in: items))
                items.insert(item, at: Int.random(in: 0...items.count, using: &self))
            }
            return .list(items)
        default:
            return self.value(depth: 2)
        }
    }

    private mutating func list(depth: Int) -> Value.List {
        Value.List((0..<Int.random(in: 0...6, using: &self)).map { _ in value(depth: depth) })
    }

    private mutating func position(in items: Value.List) -> Int {
        Int.random(in: items.indices, using: &self)
    }

    private mutating func key() -> Key {
        ["a", "b", "id", "name", "\u{e9}", "e\u{301}", "a longer key, with spaces and 30+ bytes"]
            .randomElement(using: &self) ?? "a"
    }
}
