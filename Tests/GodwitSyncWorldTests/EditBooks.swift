import GRDB
import GodwitTree

@testable import GodwitReplication
@testable import GodwitStore

/// The edits of a world with their authors, what became of them, and which may be missing at the end.
struct EditBooks {
    enum Kind { case created, removed, added }

    enum Answer {
        /// It may be there or not, as far as the app knows.
        case open
        case committed
        /// Its body has thrown: it must never be seen.
        case undone
    }

    struct Edit {
        let write: Int
        let device: Int
        let kind: Kind
        let number: Int64
    }

    private(set) var edits: [Edit] = []
    var answers: [Int: Answer] = [:]
    private(set) var excused: Set<Int64> = []
    /// What a device had not sent when it was copied: both copies send it.
    private(set) var copied: Set<Int64> = []
    /// What a person has put back who has settled a conflict.
    var putBack: Set<Int64> = []
    /// The lists whose counts were set, and not only added to.
    var setCounts: Set<Int64> = []
    private var restored: Set<Int> = []
    private var lastNumber: Int64 = 0

    /// A number that was never used.
    mutating func number() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func note(_ kind: Kind, _ number: Int64, by device: Int, in write: Int) {
        edits.append(Edit(write: write, device: device, kind: kind, number: number))
    }

    /// The numbers of edits whose writes have had one of these answers.
    func numbers(_ kind: Kind, _ wanted: Answer...) -> [Int64] {
        edits.filter { $0.kind == kind && wanted.contains(answers[$0.write] ?? .open) }
            .map(\.number)
    }

    /// The numbers of items, cards, notes and shapes in some objects, or in parts of them.
    static func numbers(in values: some Sequence<Value>) -> [Int64] {
        values.flatMap { value in
            let items = (value["items"]?.list ?? value.list).map(Array.init) ?? []
            let cases = value.map?.compactMap { $0.value["_0"] } ?? []
            return (items + cases + [value]).compactMap {
                $0["id"]?.integer ?? $0["_0"]?.integer ?? $0.integer
            }
        }
    }

    // MARK: What may be missing

    /// If one copy has sent an edit, and it was undone since, the other copy makes it again.
    mutating func noteCopy(of device: Device) {
        for launch in device.alive {
            guard let rows = try? launch.rows() else { continue }
            let sent = Self.numbers(in: rows.base)
            copied.formUnion(Set(Self.numbers(in: rows.own)).subtracting(sent))
        }
    }

    /// A restored device has forgotten its edits; those that the server has stay.
    ///
    /// - Parameter present: What the server has; nil if it may forget as well.
    mutating func excuseEdits(of device: Int, since count: Int, unlessIn present: [Int64]?) {
        restored.insert(device)
        for edit in edits[count...] where edit.device == device {
            let isThere = present?.contains(edit.number)
            if isThere != (edit.kind == .created) { excused.insert(edit.number) }
        }
    }

    /// If the server forgets as well, the edits of a restored device may be gone.
    mutating func excuseRestoredAuthors() {
        for edit in edits where restored.contains(edit.device) { excused.insert(edit.number) }
    }

    /// A device that the server does not know brings data, and takes nothing for removed.
    mutating func excuseRemovals() {
        excused.formUnion(edits.filter { $0.kind == .removed }.map(\.number))
    }
}

/// What a device has of a replica, as its tables say.
struct DeviceRowValues {
    /// The objects of the base.
    var base: [Value] = []
    /// The objects in the store, and those that the frozen batch leads to.
    var own: [Value] = []
}

extension DeviceLaunch {
    /// Reads the tables as they are, past the store and its cache.
    func rows() throws -> DeviceRowValues? {
        guard replica != nil else { return nil }
        return try store.database.read { database in
            var rows = DeviceRowValues()
            var objects = try Self.objects(in: database)
            rows.own = Array(objects.values)
            for (number, _) in try DeviceTable.names(in: database) {
                for (key, row) in try PendingTable.all(of: number, in: database) {
                    objects[key] = row.base?.value
                    if let frozen = try row.frozen.applied(to: row.base) {
                        rows.own.append(frozen.value)
                    }
                }
            }
            rows.base = Array(objects.values)
            return rows
        }
    }
}
