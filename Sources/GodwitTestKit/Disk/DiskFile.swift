/// A file's bytes: as a program sees them, as they are surely on the disk, and what lies between.
struct DiskFile {
    static let sectorSize = 512

    private enum Change {
        case write([UInt8], offset: Int)
        case truncation(size: Int)
    }

    private struct Entry {
        enum Certainty {
            case pending
            /// A sync of it has failed: no later sync can be trusted to bring it to the disk.
            case forgotten
            case synced
        }

        let number: Int
        let change: Change
        var certainty = Certainty.pending
    }

    private(set) var bytes: [UInt8] = []
    private var durable: [UInt8] = []
    private var log: [Entry] = []

    /// The numbers of the operations that a power cut could undo.
    var pending: [Int] { log.filter { $0.certainty != .synced }.map(\.number) }

    mutating func write(_ new: [UInt8], at offset: Int, number: Int) {
        bytes.overwrite(new[...], at: offset)
        log.append(Entry(number: number, change: .write(new, offset: offset)))
    }

    mutating func truncate(to size: Int, number: Int) {
        bytes.truncate(to: size)
        log.append(Entry(number: number, change: .truncation(size: size)))
    }

    mutating func sync() {
        for index in log.indices where log[index].certainty == .pending {
            log[index].certainty = .synced
        }
        guard log.allSatisfy({ $0.certainty == .synced }) else { return }
        durable = bytes
        log = []
    }

    mutating func failSync() {
        for index in log.indices where log[index].certainty == .pending {
            log[index].certainty = .forgotten
        }
    }

    func afterLoss(_ damage: inout Damage) -> DiskFile {
        var left = durable
        for entry in log {
            let fate = entry.certainty == .synced ? .kept : damage.fate(of: entry.number)
            switch (entry.change, fate) {
            case (_, .dropped): break
            case (.truncation(let size), _): left.truncate(to: size)
            case (.write(let new, let offset), .kept): left.overwrite(new[...], at: offset)
            case (.write(let new, let offset), .torn):
                for sector in Self.sectors(of: new, at: offset) where damage.keepsSector() {
                    left.overwrite(sector, at: offset + sector.startIndex)
                }
            }
        }
        var file = DiskFile()
        file.bytes = left
        file.durable = left
        return file
    }

    /// The parts of a write that a disk writes whole or not at all.
    private static func sectors(of new: [UInt8], at offset: Int) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        while start < new.count {
            let end = min(new.count, start + sectorSize - (offset + start) % sectorSize)
            parts.append(new[start..<end])
            start = end
        }
        return parts
    }
}

extension [UInt8] {
    /// Puts bytes at a place; a gap before it is filled with zeros.
    fileprivate mutating func overwrite(_ new: ArraySlice<UInt8>, at offset: Int) {
        let end = offset + new.count
        if count < end { append(contentsOf: repeatElement(0, count: end - count)) }
        replaceSubrange(offset..<end, with: new)
    }

    fileprivate mutating func truncate(to size: Int) {
        if size < count { removeLast(count - size) }
    }
}
