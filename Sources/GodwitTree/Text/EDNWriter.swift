extension Value {
    /// The value as EDN text, on one line: keys that can be keywords are.
    ///
    /// ```swift
    /// (["items": [["name": "Wine"]]] as Value).ednText()  // {:items [{:name "Wine"}]}
    /// ```
    public func ednText() -> String {
        var writer = EDNWriter()
        writer.write(self)
        return writer.text
    }
}

extension Delta {
    /// The delta as EDN text, on one line.
    ///
    /// A map of changes is a map of deltas. A list's delta has the keys `:-` (positions removed),
    /// `:=` (position to delta), `:>` (from, to) and `:+` (position to value); of several items
    /// next to each other, `[position count]` stands for the positions removed or moved from. A map
    /// of changes that has only such keys is marked `#d/map`. A map that replaces a value is marked
    /// `#d/set`, a removed key `#d/del`, and no change at all `#d/keep`. Within a string, `#d/text`
    /// lists places as `[offset removed "inserted"]`, in UTF-8 bytes; `#d/inc` is what is added to
    /// an int. `init(edn:)` reads all of it back.
    public func ednText() -> String {
        var writer = EDNWriter()
        writer.write(self)
        return writer.text
    }
}

struct EDNWriter {
    private(set) var text = ""

    mutating func write(_ value: Value) {
        switch value {
        case .null: text += "nil"
        case .bool(let bool): text += bool ? "true" : "false"
        case .int(let int): text += String(int)
        case .double(let double): text += double.double.description
        case .string(let key): text.appendQuoted(key.text)
        case .bytes(let bytes): text += "#bytes \"\(bytes.hex)\""
        case .list(let items):
            writeItems("[", Array(items), "]") { $0.write($1) }
        case .map(let map):
            writeItems("{", map.alphabetical, "}") { writer, entry in
                writer.write(key: entry.key)
                writer.write(entry.value)
            }
        }
    }

    mutating func write(_ delta: Delta) {
        switch delta {
        case .keep: text += "#d/keep nil"
        case .set(let value):
            if case .map = value { text += "#d/set " }
            write(value)
        case .map(let delta):
            if delta.looksLikeList { text += "#d/map " }
            writeItems("{", delta.alphabetical, "}") { writer, entry in
                writer.write(key: entry.key)
                writer.write(entry.change)
            }
        case .list(let list): write(list.parts)
        case .text(let delta):
            text += "#d/text "
            writeItems("[", delta.splices, "]") { writer, splice in
                writer.text += "[\(splice.offset) \(splice.removed) "
                writer.text.appendQuoted(splice.inserted.text)
                writer.text += "]"
            }
        case .increment(let number): text += "#d/inc \(number)"
        }
    }

    private mutating func write(_ change: MapDelta.Change) {
        switch change {
        case .remove: text += "#d/del nil"
        case .apply(let delta): write(delta)
        }
    }

    private mutating func write(_ parts: ListDelta.Parts) {
        text += "{"
        writeSection(":-", "#{", parts.removes) { $0.write($1) }
        writeSection(":=", "{", parts.edits) { writer, edit in
            writer.text += "\(edit.position) "
            writer.write(edit.delta)
        }
        writeSection(":>", "{", parts.moves) { writer, move in
            writer.write(move.sources)
            writer.text += " \(move.target)"
        }
        writeSection(":+", "{", parts.inserts) { writer, insert in
            writer.text += "\(insert.position) "
            writer.write(insert.value)
        }
        text += "}"
    }

    /// A position, or a run of them: a run must not take the room of its items.
    private mutating func write(_ run: Range<Int>) {
        text += run.count == 1 ? "\(run.lowerBound)" : "[\(run.lowerBound) \(run.count)]"
    }

    private mutating func writeSection<Item>(
        _ name: String,
        _ open: String,
        _ items: [Item],
        body: (inout EDNWriter, Item) -> Void
    ) {
        guard !items.isEmpty else { return }
        if text.last != "{" { text += " " }
        text += name + " "
        writeItems(open, items, "}", body: body)
    }

    private mutating func writeItems<Item>(
        _ open: String,
        _ items: [Item],
        _ close: String,
        body: (inout EDNWriter, Item) -> Void
    ) {
        text += open
        for (position, item) in items.enumerated() {
            if position > 0 { text += " " }
            body(&self, item)
        }
        text += close
    }

    private mutating func write(key: Key) {
        if key.isKeyword { text += ":" + key.text } else { text.appendQuoted(key.text) }
        text += " "
    }
}

extension MapDelta {
    /// Whether EDN would take these keys for the parts of a list's delta.
    fileprivate var looksLikeList: Bool {
        entries.allSatisfy { ListDelta.Parts.names.contains($0.key) }
    }
}

extension Key {
    /// Whether EDN reads `:` and this text as one keyword.
    fileprivate var isKeyword: Bool {
        let letters = text.unicodeScalars
        guard let first = letters.first, first.properties.isAlphabetic || first == "_" else {
            return false
        }
        return letters.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                || "-_.".unicodeScalars.contains($0)
        }
    }
}
