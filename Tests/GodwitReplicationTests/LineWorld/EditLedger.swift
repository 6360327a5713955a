import GodwitStore
import GodwitTree

@testable import GodwitReplication

/// The edits of a world with their authors, and those that may be missing at the end.
struct EditLedger {
    enum Kind { case created, removed, added }

    struct Edit {
        let device: Int
        let kind: Kind
        let number: Int64
    }

    private(set) var edits: [Edit] = []
    private(set) var excused: Set<Int64> = []
    /// What a device had not sent when it was copied: both copies send it.
    private(set) var copied: Set<Int64> = []
    private var restored: Set<Int> = []
    private var nextNumber: Int64 = 0

    /// A number that was never used.
    mutating func number() -> Int64 {
        nextNumber += 1
        return nextNumber
    }

    mutating func note(_ kind: Kind, _ number: Int64, by device: Int) {
        edits.append(Edit(device: device, kind: kind, number: number))
    }

    func numbers(_ kind: Kind) -> Set<Int64> {
        Set(edits.filter { $0.kind == kind }.map(\.number))
    }

    /// The numbers of items, cards and notes in some objects, or in parts of them.
    func numbers(in values: [Value]) -> [Int64] {
        values.flatMap { value in
            let items = (value["items"]?.list ?? value.list).map(Array.init) ?? []
            return (items + [value]).compactMap { $0["id"]?.integer ?? $0.integer }
        }
    }

    // MARK: What may be missing

    /// If one copy has sent an edit, and it was undone since, the other copy makes it again.
    mutating func noteCopy(of device: WorldDevice) {
        let sent = numbers(in: device.slice.baseObjects.values.map(\.value))
        let frozen = device.slice.frozen.map { try? $0.row.frozen.applied(to: $0.row.base) }
        let own = Array(device.objects.values) + frozen.compactMap { $0 ?? nil }
        copied.formUnion(Set(numbers(in: own.map(\.value))).subtracting(sent))
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
    mutating func excuseRemovals() { excused.formUnion(numbers(.removed)) }
}
