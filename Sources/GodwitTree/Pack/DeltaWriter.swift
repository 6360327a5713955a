struct DeltaWriter {
    var bytes: [UInt8] {
        get { canonical.bytes }
        _modify { yield &canonical.bytes }
    }

    /// How much memory a reader takes off its budget for the packed form; the canonical form of the
    /// same delta takes as much, as it is a matter of the delta and not of its bytes.
    private(set) var cost = 0

    private var canonical = CanonicalWriter()
    private let isPacked: Bool

    init(isPacked: Bool) {
        self.isPacked = isPacked
        bytes.reserveCapacity(64)
    }

    mutating func write(_ delta: Delta, _ base: Value?) {
        switch delta {
        case _ where delta.isKeep: bytes.append(DeltaCode.keep)
        case .keep: break
        case .set(let value):
            switch value {
            case .list, .map: write(value, model: base)
            // Here the code for the model's scalar stands for no change.
            default: write(scalar: value)
            }
        case .map(let delta): write(delta, base?.map)
        case .list(let delta) where delta.recipe.staysInPlace:
            write(edits: delta.recipe, base?.list)
        case .list(let delta): write(delta.parts, base?.list)
        case .text(let delta): write(delta)
        case .increment(let number):
            bytes.append(DeltaCode.increment)
            write(UInt64(bitPattern: number << 1 ^ number >> 63))
        }
    }

    private mutating func write(_ delta: MapDelta, _ base: Value.Map?) {
        if delta.entries.count <= DeltaCode.shortMapMax {
            bytes.append(DeltaCode.shortMap + UInt8(delta.entries.count - 1))
        } else {
            bytes.append(DeltaCode.map)
            write(delta.entries.count)
        }
        cost += delta.entries.count * ReadCost.Part.entry
        for entry in delta.entries {
            let place = isPacked ? base?.find(entry.key) : nil
            if isPacked { write(place?.isPresent == true ? (place?.position ?? 0) + 1 : 0) }
            if place?.isPresent != true { canonical.write(.string(entry.key)) }
            cost += ReadCost.bytes(entry.key.sizeInBytes)
            let model = place.flatMap { place in base.flatMap { $0.model(at: place.position) } }
            switch entry.change {
            case .remove: bytes.append(DeltaCode.remove)
            case .apply(let change): write(change, model)
            }
        }
    }

    private mutating func write(_ delta: TextDelta) {
        bytes.append(DeltaCode.text)
        write(delta.splices.count)
        cost += delta.splices.count * ReadCost.Part.splice
        var end = 0
        for splice in delta.splices {
            cost += ReadCost.bytes(splice.inserted.sizeInBytes)
            write(splice.offset - end)
            write(splice.removed)
            write(splice.inserted.sizeInBytes)
            splice.inserted.withBytes { bytes.append(contentsOf: $0) }
            end = splice.end
        }
    }

    /// Writes a recipe without its parts: the edits are in order, and there is nothing else.
    private mutating func write(edits recipe: ListRecipe, _ base: Value.List?) {
        bytes.append(DeltaCode.list | DeltaCode.Parts.edits.rawValue)
        let count = recipe.runs.reduce(0) { if case .edited = $1 { $0 + 1 } else { $0 } }
        write(count)
        cost += count * ReadCost.Part.edit
        var end = 0
        for case .edited(let position, let delta) in recipe.runs {
            write(position - end)
            write(delta, base.flatMap { $0.model(at: position) })
            end = position + 1
        }
    }

    private mutating func write(_ parts: ListDelta.Parts, _ base: Value.List?) {
        var mask: DeltaCode.Parts = []
        if !parts.removes.isEmpty { mask.insert(.removes) }
        if !parts.edits.isEmpty { mask.insert(.edits) }
        if !parts.moves.isEmpty { mask.insert(.moves) }
        if !parts.inserts.isEmpty { mask.insert(.inserts) }
        bytes.append(DeltaCode.list | mask.rawValue)
        cost +=
            parts.removes.count * ReadCost.Part.remove + parts.edits.count * ReadCost.Part.edit
            + parts.moves.count * ReadCost.Part.move + parts.inserts.count * ReadCost.Part.insert
        writePart(parts.removes) { writer, range, end in
            writer.writeRun(range.lowerBound - end, count: range.count)
            return range.upperBound
        }
        writePart(parts.edits) { writer, edit, end in
            writer.write(edit.position - end)
            writer.write(edit.delta, base.flatMap { $0.model(at: edit.position) })
            return edit.position + 1
        }
        writePart(parts.moves) { writer, move, end in
            writer.writeRun(move.source - end, count: move.count)
            writer.write(move.target)
            return move.sources.upperBound
        }
        write(inserts: parts.inserts, base)
    }

    private mutating func write(inserts: [ListDelta.Insert], _ base: Value.List?) {
        var runs: [Range<Int>] = []
        for (index, insert) in inserts.enumerated() {
            if let last = runs.last, inserts[last.upperBound - 1].position + 1 == insert.position {
                runs[runs.count - 1] = last.lowerBound..<(index + 1)
            } else {
                runs.append(index..<(index + 1))
            }
        }
        writePart(runs) { writer, run, end in
            let position = inserts[run.lowerBound].position
            writer.writeRun(position - end, count: run.count)
            for insert in inserts[run] {
                writer.write(insert.value, model: base.flatMap { $0.model(near: insert.position) })
            }
            return position + run.count
        }
    }

    private mutating func writePart<Item>(
        _ items: [Item],
        _ body: (inout DeltaWriter, Item, Int) -> Int
    ) {
        guard !items.isEmpty else { return }
        write(items.count)
        var end = 0
        for item in items { end = body(&self, item, end) }
    }

    private mutating func writeRun(_ gap: Int, count: Int) {
        write(gap << 1 | (count > 1 ? 1 : 0))
        if count > 1 { write(count) }
    }

    private mutating func write(_ number: Int) { write(UInt64(number)) }

    private mutating func write(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

// MARK: - Values

extension DeltaWriter {
    private mutating func write(_ value: Value, model: Value?) {
        guard isPacked else { return canonical.write(value) }
        switch value {
        case .map(let map): write(map, model: model?.map)
        case .list(let items):
            canonical.writeListHead(items.count)
            cost += ReadCost.list(items.count)
            var previous = model?.list?.first
            for item in items {
                write(item, model: previous)
                previous = item
            }
        default:
            let start = bytes.count
            write(scalar: value)
            let size = bytes.count - start
            guard value == model, size <= DeltaCode.modelMaxInBytes else { return }
            bytes.removeLast(size)
            bytes.append(DeltaCode.keep)
        }
    }

    private mutating func write(scalar value: Value) {
        canonical.write(value)
        cost += ReadCost.scalar(value)
    }

    private mutating func write(_ map: Value.Map, model: Value.Map?) {
        cost += ReadCost.map(map.count)
        for key in map.keys { cost += ReadCost.bytes(key.sizeInBytes) }
        if let model, writeValues(of: map, like: model) { return }
        let isAlike = model.map { $0.count <= Self.modelRatioMax * map.count } ?? false
        let shared = isAlike ? model?.filter { map[$0.key] != nil } ?? [] : []
        guard let model, !shared.isEmpty, shared.count * 2 >= map.count else {
            canonical.writeMapHead(map.count)
            for entry in map {
                canonical.write(.string(entry.key))
                write(entry.value, model: nil)
            }
            return
        }
        bytes.append(DeltaCode.partialShape)
        var mask = [UInt8](repeating: 0, count: (model.count + 7) / 8)
        for (index, entry) in model.enumerated() where map[entry.key] != nil {
            mask[index / 8] |= 1 << (index % 8)
        }
        bytes.append(contentsOf: mask)
        let extra = map.filter { model[$0.key] == nil }
        write(extra.count)
        for old in shared {
            if let value = map[old.key] { write(value, model: old.value) }
        }
        for entry in extra {
            canonical.write(.string(entry.key))
            write(entry.value, model: nil)
        }
    }
}

extension DeltaWriter {
    /// Writes the values of a map alone, if it has the keys of its model.
    private mutating func writeValues(of map: Value.Map, like model: Value.Map) -> Bool {
        guard !map.isEmpty, map.count == model.count else { return false }
        return map.withEntries { entries in
            model.withEntries { models in
                guard entries.elementsEqual(models, by: { $0.key == $1.key }) else { return false }
                bytes.append(DeltaCode.shape)
                for index in entries.indices {
                    write(entries[index].value, model: models[index].value)
                }
                return true
            }
        }
    }

    /// A model with more keys than so many times those of the value takes more bits than it saves.
    private static let modelRatioMax = 8
}

extension Value.Map {
    /// The value at a position, or before it, as a model for one that is set there.
    func model(at position: Int) -> Value? {
        isEmpty ? nil : self[Swift.max(0, Swift.min(position, count - 1))].value
    }
}

extension Value.List {
    func model(at position: Int) -> Value? { position < count ? self[position] : nil }

    /// The item that a new one at a position probably looks like.
    func model(near position: Int) -> Value? {
        isEmpty ? nil : self[Swift.min(position, count - 1)]
    }
}
