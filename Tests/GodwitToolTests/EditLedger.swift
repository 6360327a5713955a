import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// What the devices have said of their edits.
final class EditLedger: Sendable {
    /// What a device was about to do, and whether it has said that it is done.
    struct Entry {
        let edit: Edit
        var isDone: Bool
    }

    struct Edit: Hashable {
        let device: Int
        let isCreation: Bool
        let number: Int64
    }

    private struct State {
        var entries: [Entry] = []
        /// Where the last entry of each edit is.
        var places: [Edit: Int] = [:]
        /// Edits that may be gone, or there in spite of everything.
        var excused: Set<Int64> = []
        /// Numbers that may be there although they were removed.
        var returned: Set<Int64> = []
    }

    private let state = Mutex(State())
    let arrivals = Arrivals()

    var entries: [Entry] { state.withLock(\.entries) }

    func note(_ line: String, by device: Int) {
        let words = line.split(separator: " ")
        guard words.count == 3, let number = Int64(words[2]) else { return }
        let edit = Edit(device: device, isCreation: words[1] == "created", number: number)
        let isDone = words[0] == "done"
        state.withLock { state in
            if isDone, let place = state.places[edit] {
                state.entries[place].isDone = true
            } else {
                state.places[edit] = state.entries.count
                state.entries.append(Entry(edit: edit, isDone: isDone))
            }
        }
        if isDone { arrivals.add() }
    }

    func excuse(of device: Int, since position: Int) {
        state.withLock { state in
            let own = state.entries[position...].filter { $0.edit.device == device }
            state.excused.formUnion(own.map(\.edit.number))
        }
    }

    func excuseReturn(of numbers: Set<Int64>) { state.withLock { $0.returned.formUnion(numbers) } }

    /// Looks for edits that are lost, doubled or undone.
    func check(_ report: [String], _ moment: String) throws {
        var present: [Int64] = []
        var recorded: Set<Int64> = []
        for line in report {
            let parts = line.split(separator: " ", maxSplits: 2)
            guard let json = parts.last, parts.count > 1 else { continue }
            let numbers = Self.numbers(in: try Value(json: String(json)))
            if parts[0] == "object" { present += numbers } else { recorded.formUnion(numbers) }
        }
        let state = state.withLock(\.self)
        let (entries, excused) = (state.entries, state.excused)
        func numbers(_ isCreation: Bool, openToo: Bool) -> Set<Int64> {
            let found = entries.filter {
                $0.edit.isCreation == isCreation && ($0.isDone || openToo)
            }
            return Set(found.map(\.edit.number))
        }
        #expect(Set(present).count == present.count, "nothing is there twice \(moment)")
        let lost = numbers(true, openToo: false).subtracting(present).subtracting(recorded)
            .subtracting(numbers(false, openToo: true)).subtracting(excused)
        #expect(lost.isEmpty, "nothing is lost \(moment)")
        let back = numbers(false, openToo: false).intersection(present).subtracting(recorded)
            .subtracting(excused).subtracting(state.returned)
        #expect(back.isEmpty, "nothing comes back \(moment)")
        let madeUp = Set(present).subtracting(numbers(true, openToo: true))
        #expect(madeUp.isEmpty, "nothing is made up \(moment)")
    }

    static func numbers(in value: Value) -> [Int64] {
        let parts = (value["items"]?.list ?? value.list).map(Array.init) ?? [value]
        return parts.compactMap { $0["id"]?.integer ?? $0.integer }
    }
}
