/// What is on a disk: files, and their names in one folder.
///
/// Names lead to files by number, so that a file that was removed and made again is another one:
/// until the folder is synced, a power cut can bring the old one back.
struct Platter {
    typealias FileID = Int

    private var files: [FileID: DiskFile] = [:]
    private var names: [String: FileID] = [:]
    private var durableNames: [String: FileID] = [:]
    private var nextID = 0

    subscript(id: FileID) -> DiskFile {
        get { files[id, default: DiskFile()] }
        _modify { yield &files[id, default: DiskFile()] }
    }

    func id(of name: String) -> FileID? { names[name] }

    mutating func make(_ name: String) -> FileID {
        nextID += 1
        files[nextID] = DiskFile()
        names[name] = nextID
        return nextID
    }

    mutating func remove(_ name: String) { names[name] = nil }

    /// Makes the names durable, as a sync of the folder does.
    mutating func syncNames() { durableNames = names }

    /// The numbers of the first and the last operation that a power cut could undo.
    var pending: ClosedRange<Int>? {
        let numbers = files.values.flatMap(\.pending)
        guard let first = numbers.min(), let last = numbers.max() else { return nil }
        return first...last
    }

    /// What is found when the power is back.
    func afterLoss(_ damage: Damage) -> Platter {
        var damage = damage
        var left = self
        left.files = [:]
        left.names = [:]
        for name in Set(names.keys).union(durableNames.keys).sorted() {
            let isNew = names[name] != durableNames[name] && damage.keepsName()
            let id = isNew ? names[name] : durableNames[name]
            guard let id, let file = files[id] else { continue }
            left.names[name] = id
            left.files[id] = file.afterLoss(&damage)
        }
        left.durableNames = left.names
        return left
    }
}
