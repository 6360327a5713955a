import GodwitTestKit
import GodwitTree

/// Documents as apps and people have them, small enough that two edits of one often meet.
enum DocumentKind: CaseIterable {
    case scalars, records, keyedRecords, points, source, prose, japanese, versions, arguments
    case nested
    /// Appointments, with dates, times and paths in their texts.
    case dates

    func document(_ random: inout Seeded) -> Value {
        switch self {
        case .scalars: random.items(0...8) { $0.scalar() }
        case .records: random.items(0...5) { $0.record() }
        case .keyedRecords: random.items(0...5) { $0.keyedRecord() }
        case .points: ["type": "Feature", "coordinates": random.items(1...4) { $0.point() }]
        case .source:
            ["cells": random.items(1...2) { ["source": $0.items(1...6) { $0.line() }] }]
        case .prose: .string(Key(random.prose(3...20)))
        case .japanese: .string(Key(random.japanese(4...20)))
        case .versions: random.package()
        case .arguments:
            .list((0..<Int.random(in: 1...4, using: &random)).flatMap { _ in random.option() })
        case .nested: random.nested(depth: 3)
        case .dates: random.items(0...5) { $0.appointment() }
        }
    }
}

extension Seeded {
    fileprivate static let words = [
        "bread", "milk", "wine", "apple", "river", "stone", "cloud", "paper", "green", "seven",
        "window", "letter", "garden", "silver", "winter", "copper", "market", "yellow", "button",
    ]
    private static let syllables = ["ka", "lo", "mi", "ten", "vor", "su", "pa", "ri", "no", "dul"]
    private static let characters = Array("東京大阪天気晴雨明日行帰山川海空花鳥風月")

    /// A word of the language, or one that nothing else is likely to have.
    mutating func word() -> String {
        if happens(0.5) { return pick(Self.words) }
        return (0..<Int.random(in: 3...5, using: &self)).map { _ in pick(Self.syllables) }.joined()
    }

    mutating func number() -> Int64 {
        .random(in: happens(0.5) ? 0...20 : 100...99_999, using: &self)
    }

    mutating func character() -> String { String(pick(Self.characters)) }

    fileprivate mutating func items(
        _ count: ClosedRange<Int>,
        _ item: (inout Seeded) -> Value
    )
        -> Value
    {
        .list((0..<Int.random(in: count, using: &self)).map { _ in item(&self) })
    }

    mutating func scalar() -> Value {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: pick([.null, true, false])
        case 1, 2: .int(number())
        case 3: .double(Finite(Double(number()) / 8) ?? 0.5)
        default: .string(Key(word()))
        }
    }

    mutating func record() -> Value {
        ["title": .string(Key(prose(1...4))), "n": .int(number()), "done": .bool(happens(0.5))]
    }

    mutating func keyedRecord() -> Value {
        guard case .map(var map) = record() else { return .null }
        map["id"] = .string(Key(word()))
        return .map(map)
    }

    fileprivate mutating func point() -> Value {
        .list([coordinate(), coordinate()])
    }

    private mutating func coordinate() -> Value {
        let tenths = Int.random(in: 0..<1_800, using: &self)
        return .double(Finite(Double(tenths) / 10) ?? 0.5)
    }

    fileprivate mutating func line() -> Value {
        switch Int.random(in: 0..<3, using: &self) {
        case 0: .string(Key("\(word()) = \(number())\n"))
        case 1: .string(Key("\(word())(\(word()), \(number()))\n"))
        default: .string(Key("import \(word())\n"))
        }
    }

    mutating func prose(_ count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count, using: &self))
            .map { _ in (happens(0.15) ? "\(number())" : word()) + pick(["", "", "", ",", ".\n"]) }
            .joined(separator: " ")
    }

    mutating func japanese(_ count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count, using: &self)).map { _ in character() }.joined()
    }

    mutating func version() -> String {
        (0..<3).map { _ in String(Int.random(in: 0...20, using: &self)) }.joined(separator: ".")
    }

    fileprivate mutating func package() -> Value {
        let dependencies = (0..<Int.random(in: 0...4, using: &self)).map { _ in
            (Key(word()), Value.string(Key(pick(["^", "", "~"]) + version())))
        }
        return [
            "version": .string(Key(version())), "dependencies": .map(Value.Map(dependencies)),
            "scripts": ["build": .string(Key("node --size=\(number()) \(word()).js"))],
        ]
    }

    private mutating func date() -> String {
        let month = String(Int.random(in: 10...12, using: &self))
        return
            "20\(Int.random(in: 20...29, using: &self))-\(month)-\(Int.random(in: 10...28, using: &self))"
    }

    private mutating func path() -> String {
        (0..<Int.random(in: 2...3, using: &self)).map { _ in word() }.joined(separator: "/")
    }

    fileprivate mutating func appointment() -> Value {
        let text = "\(prose(1...3)) on \(date()) see \(path()) and \(prose(1...2))"
        return [
            "id": .string(Key(word())), "day": .string(Key(date())), "text": .string(Key(text)),
        ]
    }

    fileprivate mutating func option() -> [Value] {
        let name = Value.string(Key("--\(word())"))
        return happens(0.7) ? [name, .string(Key(happens(0.5) ? "\(number())" : word()))] : [name]
    }

    fileprivate mutating func nested(depth: Int) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 5 : 2), using: &self) {
        case 0, 1: scalar()
        case 2: items(0...4) { $0.nested(depth: depth - 1) }
        default:
            .map(
                Value.Map(
                    (0..<Int.random(in: 0...4, using: &self)).map { _ in
                        (Key(pick(Self.words)), nested(depth: depth - 1))
                    }
                )
            )
        }
    }
}

// MARK: - Edits

extension Seeded {
    /// The value after a few edits: of words in texts, numbers, fields and items.
    mutating func revised(_ value: Value) -> Value {
        switch value {
        case .map(var map):
            for entry in map where happens(0.35) { map[entry.key] = revised(entry.value) }
            if happens(0.1), let key = map.keys.first(where: { _ in true }) { map[key] = nil }
            if happens(0.2) { map[Key(pick(Self.words))] = scalar() }
            return .map(map)
        case .list(let items): return .list(revised(Array(items)))
        case .string(let string): return .string(Key(revised(string.text)))
        case .int: return .int(number())
        case .double: return coordinate()
        default: return scalar()
        }
    }

    private mutating func revised(_ items: [Value]) -> [Value] {
        var items = items
        for index in items.indices where happens(0.25) { items[index] = revised(items[index]) }
        if happens(0.25), let index = items.indices.randomElement(using: &self) {
            items.remove(at: index)
        }
        if happens(0.35) {
            let new = items.randomElement(using: &self).map { rewritten($0) } ?? scalar()
            items.insert(new, at: Int.random(in: 0...items.count, using: &self))
        }
        if happens(0.15), let index = items.indices.randomElement(using: &self) {
            let item = items.remove(at: index)
            items.insert(item, at: Int.random(in: 0...items.count, using: &self))
        }
        return items
    }

    /// A new value of the same form, with other words and numbers.
    private mutating func rewritten(_ value: Value) -> Value {
        switch value {
        case .map(let map): .map(Value.Map(map.map { ($0.key, rewritten($0.value)) }))
        case .list(let items): .list(items.map { rewritten($0) })
        case .string(let string):
            .string(
                Key(split(string.text).map { $0.isWord ? other($0) : $0.text }.joined())
            )
        case .int: .int(number())
        case .double: coordinate()
        default: scalar()
        }
    }

    private mutating func revised(_ text: String) -> String {
        var tokens = split(text)
        for _ in 0..<Int.random(in: 1...2, using: &self) {
            let words = tokens.indices.filter { tokens[$0].isWord }
            guard let index = words.randomElement(using: &self) else { return word() }
            let (old, new) = (tokens[index], other(tokens[index]))
            let space = old.isIdeograph ? "" : " "
            switch Int.random(in: 0..<6, using: &self) {
            case 0: tokens[index] = Tokens.Token(old.text + space + new, isWord: true)
            case 1 where words.count > 1: tokens[index] = Tokens.Token("", isWord: false)
            default: tokens[index] = Tokens.Token(new, isWord: true)
            }
            tokens = split(tokens.map(\.text).joined())
        }
        return tokens.map(\.text).joined()
    }

    /// A text in tokens; one with dates and paths in whole words, so that an edit changes a part of
    /// a date and leaves the rest.
    private func split(_ text: String) -> [Tokens.Token] {
        let words = Tokens.words(text)
        return words.contains(where: \.isDateOrPath) ? words : Tokens.split(text)
    }

    private mutating func other(_ token: Tokens.Token) -> String {
        if token.isIdeograph { return character() }
        if token.isDateOrPath {
            let separator: Character = token.text.contains("/") ? "/" : "-"
            var parts = token.text.split(separator: separator).map(String.init)
            let place = Int.random(in: parts.indices, using: &self)
            let isPath = separator == "/"
            parts[place] = isPath ? word() : String(Int.random(in: 10...28, using: &self))
            return parts.joined(separator: String(separator))
        }
        guard token.isNumber else { return word() }
        return token.text.contains(".") ? version() : "\(number())"
    }
}
