import GodwitTestKit
import GodwitTree

/// Lists as apps have them: records full of defaults, without an identity or with one, numbered
/// steps, rows of letters, grids.
///
/// Each record has a word of its own, which no edit changes.
enum AppList: CaseIterable {
    case todos, numberedTodos, bareTodos, roles, flags, settings, packages, steps
    case letters, marks, grid, tags, numbers

    /// The field with a record's own word; nil for lists of other things.
    var wordField: Key? {
        switch self {
        case .todos, .numberedTodos, .bareTodos, .steps: "text"
        case .roles: "user"
        case .flags: "flag"
        case .settings, .packages: "name"
        case .letters, .marks, .grid, .tags, .numbers: nil
        }
    }

    /// Whether an item is found by its place.
    private var isRow: Bool {
        switch self {
        case .letters, .marks, .grid: true
        default: false
        }
    }

    func list(_ random: inout Seeded) -> [Value] {
        let count = Int.random(in: isRow ? 5...9 : 1...6, using: &random)
        return (0..<count).reduce(into: []) { items, _ in items.append(item(&random, in: items)) }
    }

    /// The list after one edit.
    func edited(_ items: [Value], _ random: inout Seeded) -> [Value] {
        var items = items
        let position = items.isEmpty ? 0 : Int.random(in: 0..<items.count, using: &random)
        switch Int.random(in: 0..<(isRow || items.isEmpty ? 1 : 4), using: &random) {
        case 0 where isRow: items[position] = changed(items[position], &random)
        case 0: items.insert(item(&random, in: items), at: random.happens(0.5) ? items.count : 0)
        case 1: items.remove(at: position)
        case 2: items[position] = item(&random, in: items)
        default: items[position] = changed(items[position], &random)
        }
        return self == .steps ? renumbered(items) : items
    }

    private func renumbered(_ items: [Value]) -> [Value] {
        items.enumerated().map { index, item in
            var step = item.map ?? [:]
            step["step"] = .int(Int64(index + 1))
            return .map(step)
        }
    }

    private func item(_ random: inout Seeded, in items: [Value]) -> Value {
        let word = Value.string(Key(random.rareWord()))
        switch self {
        case .todos, .numberedTodos:
            let number = Int64.random(in: 1...1_000_000_000, using: &random)
            return [
                "id": self == .todos ? .string(Key(random.rareWord())) : .int(number),
                "text": word, "done": false, "list": "home", "prio": 1, "owner": "ann",
            ]
        case .bareTodos: return ["text": word, "done": false]
        case .roles: return ["user": word, "role": "viewer"]
        case .flags: return ["flag": word, "on": false, "pct": 0]
        case .settings: return ["name": word, "value": "localhost"]
        case .packages: return ["name": word, "version": "1.0.0", "source": "registry"]
        case .steps: return ["step": .int(Int64(items.count + 1)), "text": word]
        case .letters: return "P"
        case .marks: return ["done": false]
        case .grid: return [0, 0, 0]
        case .tags: return word
        case .numbers: return .int(Int64.random(in: 1_000...999_999_999, using: &random))
        }
    }

    private func changed(_ item: Value, _ random: inout Seeded) -> Value {
        guard case .map(var map) = item else {
            if self == .grid { return random.pick([[0, 1, 0], [0, 0, 2], [3, 0, 0]]) }
            return self == .letters ? random.pick(["A", "L", "S"]) : item
        }
        switch self {
        case .todos, .numberedTodos, .bareTodos, .marks:
            map[random.happens(0.5) ? "done" : "note"] = true
        case .roles: map["role"] = random.pick(["editor", "admin"])
        case .flags: map["on"] = true
        case .settings: map["value"] = .string(Key(random.rareWord()))
        case .packages: map["version"] = random.pick(["1.0.1", "1.1.0"])
        case .steps: map["timer"] = .int(Int64.random(in: 1...60, using: &random))
        case .letters, .grid, .tags, .numbers: break
        }
        return .map(map)
    }
}

extension Seeded {
    /// A word that no other item has.
    fileprivate mutating func rareWord() -> String {
        "w" + String(UInt32.random(in: .min ... .max, using: &self), radix: 36)
    }
}
