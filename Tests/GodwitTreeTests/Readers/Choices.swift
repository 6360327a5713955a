import GodwitTree

/// Bytes as choices, from which a value is made and edited: almost any bytes are an input.
struct Choices {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// A number below `count`; 0 when there are no more choices.
    mutating func next(_ count: Int) -> Int { Int(rest.popFirst() ?? 0) % count }
}

extension Choices {
    private static let keys: [Key] = ["id", "a", "b", "\u{e9}"]
    private static let texts = ["", "a", "\u{e9}", "b ", "\u{1f35e}", "1.2", "1.10", "2026-01-05"]
    private static let prose = "A text that is long enough to be changed, word by word."

    mutating func value(depth: Int = 3) -> Value {
        switch next(depth > 0 ? 9 : 6) {
        case 0: return .int(Int64(next(4)))
        case 1: return .string(Key(text()))
        case 2: return [.null, true, 0.5, .bytes([1])][next(4)]
        case 3: return .string(Key(Self.prose + text()))
        case 4, 5: return .int(Int64(next(256)) - 128)
        case 6: return .map(Value.Map((0..<next(4)).map { _ in (key(), value(depth: depth - 1)) }))
        // Long enough to be of several chunks.
        case 7 where depth == 2: return .list((0..<(60 + next(60))).map { .int(Int64($0 % 50)) })
        default: return .list((0..<next(6)).map { _ in value(depth: depth - 1) })
        }
    }

    /// Does to a draft what is chosen.
    mutating func edit(_ draft: inout Draft) {
        for _ in 0...next(4) { editOnce(&draft) }
    }

    private mutating func editOnce(_ draft: inout Draft) {
        switch Value(draft) {
        case .map: editMap(&draft)
        case .list(let items): editList(&draft, items)
        case .string(let key): editText(&draft, key.text)
        case .int where next(3) > 0: draft += Int64(next(5)) - 2
        default: draft = Draft(value(depth: 1))
        }
    }

    private mutating func editMap(_ draft: inout Draft) {
        let key = key()
        switch next(6) {
        case 0: draft[key] = nil
        case 1: draft[key] = value(depth: 1)
        case 2: draft = Draft(value(depth: 2))
        default: editOnce(&draft[key])
        }
    }

    private mutating func editList(_ draft: inout Draft, _ items: Value.List) {
        guard !items.isEmpty else { return draft.list.append(value(depth: 1)) }
        switch next(8) {
        case 0:
            let start = next(items.count)
            draft.list.removeSubrange(start..<(start + 1 + next(items.count - start)))
        case 1: draft = Draft(value(depth: 2))
        case 2, 3: draft.list.move(from: next(items.count), to: next(items.count))
        case 4, 5: draft.list.insert(value(depth: 1), at: next(items.count + 1))
        default: editOnce(&draft[next(items.count)])
        }
    }

    private mutating func editText(_ draft: inout Draft, _ text: String) {
        guard next(4) > 0 else { return draft = Draft(value(depth: 0)) }
        let scalars = text.unicodeScalars
        let start = next(scalars.count + 1)
        let end = start + next(min(8, scalars.count - start) + 1)
        let places = [start, end].map {
            text.unicodeScalars.prefix($0).reduce(0) { $0 + $1.utf8.count }
        }
        draft.text.replaceSubrange(places[0]..<places[1], with: self.text())
    }

    private mutating func key() -> Key { Self.keys[next(Self.keys.count)] }
    private mutating func text() -> String { Self.texts[next(Self.texts.count)] }
}
