extension Delta {
    /// Reads a delta from EDN text, as ``ednText()`` writes it, and checks all that can be checked
    /// without its base.
    ///
    /// ```swift
    /// let delta = try Delta(edn: "{:items {:- #{0} :+ {1 {:name \"Wine\"}}}}")
    /// ```
    ///
    /// A map is a map of deltas, unless it has keys and all of them are among `:- := :> :+`: then it
    /// is the delta of a list, and `#d/map` says that it is not. Any other value, also a vector,
    /// takes the place of the old one.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)`` with the byte of the fault, also
    ///   when the delta contradicts itself there; ``TreeError/tooDeep(limit:)`` or
    ///   ``TreeError/overBudget(_:limit:)``.
    /// - Complexity: O(*n* log *n*).
    public init(edn text: String, budget: ReadBudget = .standard) throws(TreeError) {
        try self.init(edn: Array(text.utf8), budget: budget)
    }

    /// Reads a delta from EDN text in UTF-8 bytes.
    public init(edn bytes: [UInt8], budget: ReadBudget = .standard) throws(TreeError) {
        var reader = EDNReader(bytes: bytes, depthMax: Self.encodedDepthMax, budget: budget)
        try self.init(reader.readDocument())
    }

    /// The delta that an element of EDN stands for.
    init(_ form: EDNForm) throws(TreeError) { self = try form.delta(depthLeft: Value.depthMax) }
}

extension EDNForm {
    fileprivate func delta(depthLeft: Int) throws(TreeError) -> Delta {
        guard depthLeft >= 0 else { throw .tooDeep(limit: Value.depthMax) }
        switch tags.first {
        case nil:
            guard case .map(let forms) = content else { break }
            let isList = !forms.isEmpty && isListDelta
            return isList ? try list(depthLeft: depthLeft) : try map(depthLeft: depthLeft)
        case "d/keep": return .keep
        case "d/set": return .set(try untagged.newValue(depthLeft: depthLeft))
        case "d/map": return try untagged.map(depthLeft: depthLeft)
        case "d/list": return try untagged.list(depthLeft: depthLeft)
        case "d/text": return try untagged.text()
        case "d/inc":
            guard tags.count == 1, case .int(let number) = content else {
                throw fault("an increment is an integer")
            }
            return .adding(number)
        case "d/del": throw fault("only what stands under a key can be removed like this")
        default: break
        }
        return .set(try newValue(depthLeft: depthLeft))
    }

    private func newValue(depthLeft: Int) throws(TreeError) -> Value {
        try value(depthLeft: depthLeft, limit: Value.depthMax)
    }

    /// The element behind the first tag.
    private var untagged: EDNForm {
        EDNForm(offset: offset, tags: Array(tags.dropFirst()), content: content)
    }

    /// Whether all keys of this map name parts of a list's delta.
    private var isListDelta: Bool {
        guard case .map(let forms) = content else { return false }
        return stride(from: 0, to: forms.count, by: 2).allSatisfy { index in
            guard let key = try? forms[index].key() else { return false }
            return ListDelta.Parts.names.contains(key)
        }
    }

    private func map(depthLeft: Int) throws(TreeError) -> Delta {
        var entries: [MapDelta.Entry] = []
        for (keyForm, form) in try pairs("a map of changes") {
            let isRemove = form.tags == ["d/del"]
            let change: MapDelta.Change =
                isRemove ? .remove : .apply(try form.delta(depthLeft: depthLeft - 1))
            entries.append(MapDelta.Entry(key: try keyForm.key(), change: change))
        }
        entries.sort { $0.key < $1.key }
        let twice = zip(entries, entries.dropFirst()).first { $0.key == $1.key }
        if let twice { throw fault("the key \"\(twice.0.key)\" occurs twice in this map") }
        return .map(entries)
    }

    private func text() throws(TreeError) -> Delta {
        var splices: [TextDelta.Splice] = []
        for form in try items("a vector of places") {
            let parts = try form.items("[offset removed \"inserted\"]")
            guard parts.count == 3, parts[2].tags.isEmpty,
                case .string(let inserted) = parts[2].content
            else { throw form.fault("[offset removed \"inserted\"] was expected") }
            splices.append(
                TextDelta.Splice(
                    offset: try parts[0].position(),
                    removed: try parts[1].position(),
                    inserted: inserted
                )
            )
        }
        return try checked { () throws(TreeError) in try Delta.text(splices) }
    }

    /// Names this place in errors of what has no place of its own.
    private func checked(_ make: () throws(TreeError) -> Delta) throws(TreeError) -> Delta {
        do throws(TreeError) {
            return try make()
        } catch {
            guard case .invalidDelta(let reason) = error else { throw error }
            throw fault(reason)
        }
    }
}

// MARK: - Lists

extension EDNForm {
    private func list(depthLeft: Int) throws(TreeError) -> Delta {
        var parts = ListDelta.Parts()
        var names: Set<Key> = []
        for (keyForm, form) in try pairs("the delta of a list") {
            let name = try keyForm.key()
            guard names.insert(name).inserted else { throw keyForm.fault("a part occurs twice") }
            switch name {
            case "-": parts.removes = try form.removes()
            case "=": parts.edits = try form.edits(depthLeft: depthLeft)
            case ">": parts.moves = try form.moves()
            case "+": parts.inserts = try form.inserts(depthLeft: depthLeft)
            default: throw keyForm.fault("an unknown part \"\(name)\" of a list's delta")
            }
        }
        return try checked { () throws(TreeError) in
            let list = try ListDelta(
                removes: parts.removes,
                moves: parts.moves,
                inserts: parts.inserts,
                edits: parts.edits
            )
            return .list(list.recipe)
        }
    }

    private func removes() throws(TreeError) -> [Range<Int>] {
        guard tags.isEmpty, case .set(let forms) = content else {
            throw fault("a set of positions was expected")
        }
        var removes: [Range<Int>] = []
        for form in forms { removes.append(try form.run()) }
        return removes
    }

    private func edits(depthLeft: Int) throws(TreeError) -> [ListDelta.Edit] {
        var edits: [ListDelta.Edit] = []
        for (position, form) in try pairs("a map of positions") {
            let delta = try form.delta(depthLeft: depthLeft - 1)
            edits.append(ListDelta.Edit(position: try position.position(), delta: delta))
        }
        return edits
    }

    private func moves() throws(TreeError) -> [ListDelta.Move] {
        var moves: [ListDelta.Move] = []
        for (source, target) in try pairs("a map of positions") {
            let run = try source.run()
            moves.append(
                ListDelta.Move(
                    source: run.lowerBound,
                    target: try target.position(),
                    count: run.count
                )
            )
        }
        return moves
    }

    private func inserts(depthLeft: Int) throws(TreeError) -> [ListDelta.Insert] {
        guard depthLeft > 0 else { throw .tooDeep(limit: Value.depthMax) }
        var inserts: [ListDelta.Insert] = []
        for (position, form) in try pairs("a map of positions") {
            let value = try form.newValue(depthLeft: depthLeft - 1)
            inserts.append(ListDelta.Insert(position: try position.position(), value: value))
        }
        return inserts
    }

    /// A position, or `[position count]`.
    private func run() throws(TreeError) -> Range<Int> {
        guard case .list(let items) = content, tags.isEmpty else {
            let position = try position()
            return position..<(position + 1)
        }
        guard items.count == 2 else { throw fault("[position count] was expected") }
        let position = try items[0].position()
        return position..<(position + (try items[1].position()))
    }

    private func position() throws(TreeError) -> Int {
        guard tags.isEmpty, case .int(let int) = content, let position = Int(exactly: int),
            (0...ListDelta.positionMax).contains(position)
        else { throw fault("a position is a natural number") }
        return position
    }
}
