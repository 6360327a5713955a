/// Reads a delta from bytes that may say anything.
///
/// The reader charges the budget for each element before it allocates, and each element takes at
/// least one byte of the input.
struct DeltaReader {
    private var canonical: CanonicalReader
    private let isPacked: Bool

    init(_ bytes: [UInt8], isPacked: Bool, meter: ReadMeter) {
        canonical = CanonicalReader(bytes: bytes, depthMax: Value.depthMax, meter: meter)
        self.isPacked = isPacked
    }

    var meter: ReadMeter { canonical.meter }

    /// The delta behind the byte that names the form.
    mutating func readAll(_ base: Value?) throws(TreeError) -> Delta {
        do throws(TreeError) {
            _ = try canonical.readByte()
            let delta = try read(base, depthLeft: Value.depthMax)
            guard canonical.isAtEnd else { throw canonical.fault("there is more after the delta") }
            return delta
        } catch {
            if case .malformed(_, let offset, let reason) = error {
                throw .malformed(format: .delta, offset: offset, reason: reason)
            }
            throw error
        }
    }

    private mutating func read(_ base: Value?, depthLeft: Int) throws(TreeError) -> Delta {
        guard depthLeft >= 0 else { throw .tooDeep(limit: Value.depthMax) }
        let code = try canonical.peekByte()
        switch code {
        case DeltaCode.keep:
            _ = try canonical.readByte()
            return .keep
        case DeltaCode.increment:
            _ = try canonical.readByte()
            let bits = try readNumber()
            return .adding(Int64(bitPattern: bits >> 1) ^ -Int64(bits & 1))
        case DeltaCode.text:
            _ = try canonical.readByte()
            return try readText()
        case DeltaCode.map:
            _ = try canonical.readByte()
            return try readMap(count: readCount(), base?.map, depthLeft: depthLeft)
        case DeltaCode.shortMap..<(DeltaCode.shortMap + UInt8(DeltaCode.shortMapMax)):
            _ = try canonical.readByte()
            let count = Int(code - DeltaCode.shortMap) + 1
            return try readMap(count: count, base?.map, depthLeft: depthLeft)
        case DeltaCode.list..<(DeltaCode.list + 16):
            _ = try canonical.readByte()
            let parts = DeltaCode.Parts(rawValue: code & 0xf)
            return try readList(parts, base?.list, depthLeft: depthLeft)
        default:
            return .set(try readValue(model: base, depthLeft: depthLeft))
        }
    }

    private mutating func readMap(
        count: Int,
        _ base: Value.Map?,
        depthLeft: Int
    ) throws(TreeError) -> Delta {
        try canonical.meter.take(count, each: ReadCost.Part.entry)
        var entries: [MapDelta.Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let (key, model) = try readKey(base)
            if let last = entries.last, !(last.key < key) {
                throw canonical.fault("keys are not in canonical order, or one occurs twice")
            }
            if try canonical.peekByte() == DeltaCode.remove {
                _ = try canonical.readByte()
                entries.append(MapDelta.Entry(key: key, change: .remove))
            } else {
                let delta = try read(model, depthLeft: depthLeft - 1)
                entries.append(MapDelta.Entry(key: key, change: .apply(delta)))
            }
        }
        return .map(entries)
    }

    private mutating func readKey(_ base: Value.Map?) throws(TreeError) -> (Key, model: Value?) {
        if isPacked {
            let number = try readNumber()
            if number > 0 {
                guard let base, number <= UInt64(base.count) else {
                    throw canonical.fault("the base has no such key")
                }
                let entry = base[Int(number) - 1]
                try canonical.meter.take(memory: ReadCost.bytes(entry.key.sizeInBytes))
                return (entry.key, entry.value)
            }
        }
        let key = try canonical.readKey()
        guard isPacked, let base else { return (key, nil) }
        return (key, base.model(at: base.find(key).position))
    }

    private mutating func readText() throws(TreeError) -> Delta {
        var splices: [TextDelta.Splice] = []
        var end = 0
        for _ in 0..<(try readCount(each: ReadCost.Part.splice)) {
            let offset = end + (try readPosition())
            let removed = try readPosition()
            let inserted = try canonical.readText(sizeInBytes: readPosition())
            splices.append(TextDelta.Splice(offset: offset, removed: removed, inserted: inserted))
            end = offset + removed
            guard end <= TextDelta.offsetMax else {
                throw canonical.fault("an offset is too large")
            }
        }
        return try .text(splices)
    }
}

// MARK: - Lists

extension DeltaReader {
    private mutating func readList(
        _ present: DeltaCode.Parts,
        _ base: Value.List?,
        depthLeft: Int
    ) throws(TreeError) -> Delta {
        var parts = ListDelta.Parts()
        var end = 0
        if present.contains(.removes) {
            for _ in 0..<(try readCount(each: ReadCost.Part.remove)) {
                let range = try readRun(after: end)
                parts.removes.append(range)
                end = range.upperBound
            }
        }
        end = 0
        if present.contains(.edits) {
            for _ in 0..<(try readCount(each: ReadCost.Part.edit)) {
                let position = end + (try readPosition())
                guard position < ListDelta.positionMax else {
                    throw canonical.fault("a position is out of range")
                }
                let model = base.flatMap { $0.model(at: position) }
                let delta = try read(model, depthLeft: depthLeft - 1)
                parts.edits.append(ListDelta.Edit(position: position, delta: delta))
                end = position + 1
            }
        }
        end = 0
        if present.contains(.moves) {
            for _ in 0..<(try readCount(each: ReadCost.Part.move)) {
                let range = try readRun(after: end)
                let target = try readPosition()
                parts.moves.append(
                    ListDelta.Move(source: range.lowerBound, target: target, count: range.count)
                )
                end = range.upperBound
            }
        }
        if present.contains(.inserts) {
            try readInserts(into: &parts, base, depthLeft: depthLeft)
        }
        parts.edits.removeAll { $0.delta == .keep }
        return .list(try ListRecipe(parts))
    }

    private mutating func readInserts(
        into parts: inout ListDelta.Parts,
        _ base: Value.List?,
        depthLeft: Int
    ) throws(TreeError) {
        var end = 0
        for _ in 0..<(try readCount()) {
            let range = try readRun(after: end)
            guard range.count <= canonical.bytesLeft else {
                throw canonical.fault("the input ends too early")
            }
            try canonical.meter.take(range.count, each: ReadCost.Part.insert)
            for position in range {
                let model = isPacked ? base.flatMap { $0.model(near: position) } : nil
                let value = try readValue(model: model, depthLeft: depthLeft - 1)
                parts.inserts.append(ListDelta.Insert(position: position, value: value))
            }
            end = range.upperBound
        }
    }

    private mutating func readRun(after end: Int) throws(TreeError) -> Range<Int> {
        let number = try readPosition(max: 2 * ListDelta.positionMax + 1)
        let start = end + number >> 1
        let count = number & 1 == 1 ? try readPosition() : 1
        guard start + count <= ListDelta.positionMax else {
            throw canonical.fault("a position is out of range")
        }
        return start..<(start + count)
    }
}

// MARK: - Values

extension DeltaReader {
    private mutating func readValue(model: Value?, depthLeft: Int) throws(TreeError) -> Value {
        guard isPacked else { return try canonical.readValue(depthLeft: Swift.max(0, depthLeft)) }
        let code = try canonical.peekByte()
        switch (code, MajorType(rawValue: code >> 5)) {
        case (DeltaCode.keep, _):
            _ = try canonical.readByte()
            guard let model, model.list == nil, model.map == nil else {
                throw canonical.fault("there is no scalar to be the same as")
            }
            guard model.isEncoded(within: DeltaCode.modelMaxInBytes) else {
                throw canonical.fault("the scalar to be the same as is too long")
            }
            try canonical.meter.take(memory: ReadCost.scalar(model))
            return model
        case (DeltaCode.shape, _):
            _ = try canonical.readByte()
            return try readShape(model?.map, depthLeft: depthLeft)
        case (DeltaCode.partialShape, _):
            _ = try canonical.readByte()
            return try readPartialShape(model?.map, depthLeft: depthLeft)
        case (_, .list?):
            guard depthLeft > 0 else { throw .tooDeep(limit: Value.depthMax) }
            let count = try canonical.readHeadCount()
            try canonical.meter.take(memory: ReadCost.list(count))
            var items: [Value] = []
            var previous = model?.list?.first
            for _ in 0..<count {
                let item = try readValue(model: previous, depthLeft: depthLeft - 1)
                items.append(item)
                previous = item
            }
            return .list(items)
        case (_, .map?):
            guard depthLeft > 0 else { throw .tooDeep(limit: Value.depthMax) }
            let count = try canonical.readHeadCount()
            try canonical.meter.take(memory: ReadCost.map(count))
            return .map(try build(readEntries(count: count, depthLeft: depthLeft)))
        default:
            return try canonical.readValue(depthLeft: 0)
        }
    }

    private mutating func readShape(_ model: Value.Map?, depthLeft: Int) throws(TreeError) -> Value
    {
        guard let model, depthLeft > 0 else { throw canonical.fault("there is no model") }
        guard model.count <= canonical.bytesLeft else {
            throw canonical.fault("the input ends too early")
        }
        try canonical.meter.take(memory: ReadCost.map(model.count))
        var entries: [Value.Map.Entry] = []
        for entry in model { entries.append(try readEntry(like: entry, depthLeft: depthLeft)) }
        return .map(Value.Map(ascending: entries))
    }

    /// Looks at no more of the model than the mask calls for: a few bytes must not walk through
    /// a large model again and again.
    private mutating func readPartialShape(
        _ model: Value.Map?,
        depthLeft: Int
    ) throws(TreeError) -> Value {
        guard let model, depthLeft > 0 else { throw canonical.fault("there is no model") }
        let mask = try canonical.readBytes(count: (model.count + 7) / 8)
        let extra = try readCount()
        let shared = mask.reduce(0) { $0 + $1.nonzeroBitCount }
        try canonical.meter.take(memory: ReadCost.map(shared + extra))
        var entries: [Value.Map.Entry] = []
        for (index, byte) in mask.enumerated() {
            var rest = byte
            while rest != 0 {
                let place = index * 8 + rest.trailingZeroBitCount
                rest &= rest - 1
                // Bits behind the last key mean nothing.
                guard place < model.count else { break }
                entries.append(try readEntry(like: model[place], depthLeft: depthLeft))
            }
        }
        entries += try readEntries(count: extra, depthLeft: depthLeft)
        return .map(try build(entries))
    }

    private mutating func readEntry(
        like model: Value.Map.Entry,
        depthLeft: Int
    ) throws(TreeError) -> Value.Map.Entry {
        try canonical.meter.take(memory: ReadCost.bytes(model.key.sizeInBytes))
        let value = try readValue(model: model.value, depthLeft: depthLeft - 1)
        return Value.Map.Entry(key: model.key, value: value)
    }

    private mutating func readEntries(
        count: Int,
        depthLeft: Int
    ) throws(TreeError) -> [Value.Map.Entry] {
        var entries: [Value.Map.Entry] = []
        for _ in 0..<count {
            let key = try canonical.readKey()
            let value = try readValue(model: nil, depthLeft: depthLeft - 1)
            entries.append(Value.Map.Entry(key: key, value: value))
        }
        return entries
    }

    private func build(_ entries: [Value.Map.Entry]) throws(TreeError) -> Value.Map {
        guard case .success(let map) = Value.Map.build(entries) else {
            throw canonical.fault("a key occurs twice")
        }
        return map
    }
}

// MARK: - Numbers

extension DeltaReader {
    private mutating func readNumber() throws(TreeError) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: 0, through: 63, by: 7) {
            let byte = try canonical.readByte()
            let part = UInt64(byte & 0x7f)
            guard shift < 63 || part <= 1, part != 0 || byte != 0 || shift == 0 else {
                throw canonical.fault("a number is not in its shortest form")
            }
            number |= part << shift
            if byte < 0x80 { return number }
        }
        throw canonical.fault("a number has too many bytes")
    }

    private mutating func readPosition(max: Int = ListDelta.positionMax) throws(TreeError) -> Int {
        let number = try readNumber()
        guard number <= UInt64(max) else { throw canonical.fault("a number is out of range") }
        return Int(number)
    }

    /// The number of things to come; each takes at least a byte.
    private mutating func readCount() throws(TreeError) -> Int {
        let count = try readNumber()
        guard count <= UInt64(canonical.bytesLeft) else {
            throw canonical.fault("the input ends too early")
        }
        return Int(count)
    }

    /// The number of things to come, paid for.
    private mutating func readCount(each memory: Int) throws(TreeError) -> Int {
        let count = try readCount()
        try canonical.meter.take(count, each: memory)
        return count
    }
}
