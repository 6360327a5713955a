import GodwitTree

/// A delta as people read it: one line for each change, with the place before it.
///
///     ~ /items/0/crossed  false → true  (Bread)
///     - /items/1  {"name": "Milk"}
///     > /items/5 → /items/0  (Wine)
///     + /items/3  {"name": "Oat milk"}
///     ~ /note  a [-short-] {+long+} note
///
/// Places of what is changed, removed or moved away count in the old document; of what is added
/// or arrives, in the new one.
struct DiffText {
    private let style: Style
    private var lines: [String] = []
    private(set) var counts = Counts()

    /// How many changes of each kind there are.
    struct Counts {
        var changed = 0
        var added = 0
        var removed = 0
        var moved = 0
    }

    init(_ delta: Delta, on base: Value, style: Style) {
        self.style = style
        write(delta, base, ValuePath(), label: nil)
    }

    var text: String { lines.joined(separator: "\n") }

    private mutating func write(_ delta: Delta, _ base: Value?, _ path: ValuePath, label: String?) {
        switch delta {
        case .keep: break
        case .set(let value): change("\(shown(base)) → \(shown(value))", path, label)
        case .increment(let number):
            change("\(shown(base)) \(number < 0 ? "-" : "+") \(number.magnitude)", path, label)
        case .text(let text): change(words(text, base?.text ?? ""), path, label)
        case .map(let map): write(map, base?.map ?? [:], path, label)
        case .list(let list): write(list.parts, base?.list ?? [], path, label)
        }
    }

    private mutating func write(
        _ delta: MapDelta,
        _ base: Value.Map,
        _ path: ValuePath,
        _ label: String?
    ) {
        for entry in delta.entries.sorted(by: { $0.key.text < $1.key.text }) {
            let (path, old) = (path.appending(.key(entry.key)), base[entry.key])
            switch (entry.change, old) {
            case (.remove, nil): break
            case (.remove, let old?): remove(old, path, label)
            case (.apply(.set(let value)), nil): add(value, path, label)
            case (.apply(let change), _): write(change, old, path, label: label)
            }
        }
    }

    private mutating func write(
        _ parts: ListDelta.Parts,
        _ base: Value.List,
        _ path: ValuePath,
        _ label: String?
    ) {
        for position in parts.removes.joined() {
            remove(base[position], path.appending(.position(position)), label)
        }
        for edit in parts.edits {
            let item = base[edit.position]
            let path = path.appending(.position(edit.position))
            write(edit.delta, item, path, label: item.name ?? label)
        }
        for move in parts.moves {
            for offset in 0..<move.count {
                let source = path.appending(.position(move.source + offset))
                let target = path.appending(.position(move.target + offset))
                counts.moved += 1
                let item = base[move.source + offset]
                let what = item.name.map { "(\($0))" } ?? shown(item)
                lines.append(style.paint("> \(source) → \(target)  \(what)", .cyan))
            }
        }
        for insert in parts.inserts {
            add(insert.value, path.appending(.position(insert.position)), label)
        }
    }
}

// MARK: - Lines

extension DiffText {
    private mutating func change(_ what: String, _ path: ValuePath, _ label: String?) {
        counts.changed += 1
        let suffix = label.map { style.paint("  (\($0.withoutControls))", .grey) } ?? ""
        lines.append(style.paint("~ \(shown(path))", .yellow) + "  \(what)\(suffix)")
    }

    private mutating func add(_ value: Value, _ path: ValuePath, _ label: String?) {
        counts.added += 1
        lines.append(style.paint("+ \(shown(path))  \(shown(value))", .green))
    }

    private mutating func remove(_ value: Value, _ path: ValuePath, _ label: String?) {
        counts.removed += 1
        lines.append(style.paint("- \(shown(path))  \(shown(value))", .red))
    }

    private func shown(_ path: ValuePath) -> String { path.description.withoutControls }

    private func shown(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self).withoutControls
    }

    /// A value on one line, and not too much of it.
    private func shown(_ value: Value?) -> String {
        guard let value else { return "nothing" }
        let text = Layout.compact.text(of: value).withoutControls
        guard text.count > Self.valueMax else { return text }
        return text.prefix(Self.valueMax) + "…"
    }

    /// What was taken out and put in, with some words around it.
    private func words(_ delta: TextDelta, _ base: String) -> String {
        let bytes = Array(base.utf8)
        var text = ""
        var end = 0
        for splice in delta.splices {
            text += context(bytes[end..<splice.offset], isFirst: end == 0)
            let removed = piece(bytes[splice.offset..<(splice.offset + splice.removed)])
            if !removed.isEmpty { text += style.paint("[-\(removed)-]", .red) }
            let inserted = piece(Array(splice.inserted.text.utf8)[...])
            if !inserted.isEmpty { text += style.paint("{+\(inserted)+}", .green) }
            end = splice.offset + splice.removed
        }
        let rest = shown(bytes[end...])
        text += rest.count > Self.contextMax ? rest.prefix(Self.contextMax) + "…" : rest
        return text.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: "⏎")
    }

    /// What stands between two splices: its ends, when it is long.
    private func context(_ bytes: ArraySlice<UInt8>, isFirst: Bool) -> String {
        let text = shown(bytes)
        guard text.count > 2 * Self.contextMax else { return text }
        return (isFirst ? "" : text.prefix(Self.contextMax)) + "…" + text.suffix(Self.contextMax)
    }

    private func piece(_ bytes: ArraySlice<UInt8>) -> String {
        let text = shown(bytes)
        return text.count > Self.valueMax ? text.prefix(Self.valueMax) + "…" : text
    }

    private static let valueMax = 100
    private static let contextMax = 24
}

extension Value {
    /// What people call this item, if it says so.
    fileprivate var name: String? {
        for key in ["name", "title", "label", "id"] as [Key] {
            switch self[key] {
            case .string(let text)?: return text.text
            case .int(let int)?: return String(int)
            default: continue
            }
        }
        return nil
    }
}
