internal import GodwitTree

/// Numbers the parts of a history, keeps them few, and notes what has to be written.
struct PartLog: Sendable {
    private var lastNumber: Int64
    private var writes: [HistoryWrite] = []

    init(lastNumber: Int64 = 0) { self.lastNumber = lastNumber }

    mutating func insert(_ delta: Delta) -> History.Part {
        lastNumber += 1
        let part = History.Part(
            number: lastNumber,
            delta: delta,
            sizeInBytes: delta.canonicalBytes.count
        )
        note(.insertPart(part))
        return part
    }

    mutating func remove(_ part: History.Part) { note(.removePart(number: part.number)) }

    mutating func note(_ write: HistoryWrite) { writes.append(write) }

    mutating func takeWrites() -> [HistoryWrite] {
        defer { writes = [] }
        return writes
    }

    /// The same change in fewer parts, none of which keeps everything: see invariant (5) of
    /// `History`.
    mutating func tiered(_ parts: [History.Part]) throws(ReplicationError) -> [History.Part] {
        var result: [History.Part] = []
        for part in parts {
            var last = part
            while let before = result.last, before.sizeInBytes <= 2 * last.sizeInBytes {
                result.removeLast()
                remove(before)
                remove(last)
                last = insert(try Self.compose(before.delta, last.delta))
            }
            if last.delta == .keep { remove(last) } else { result.append(last) }
        }
        return result
    }

    static func compose(_ first: Delta, _ second: Delta) throws(ReplicationError) -> Delta {
        do throws(TreeError) {
            return try first.composed(with: second)
        } catch {
            throw .damagedHistory(reason: error.description)
        }
    }
}
