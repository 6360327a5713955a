import GodwitTestKit
import GodwitTree
import Testing

/// An increment counts once, whatever becomes of the item that has the number.
///
/// Three devices change one base, and a server brings their changes into one line: it merges each
/// into the composition of the changes before it and of what was left to do after them.
@Suite struct MergeCounterTests {
    @Test(arguments: [true, false])
    func `increments of three devices add up, whatever happens around them`(isNamed: Bool) throws {
        var laws = LawBook()
        for seed in 0..<UInt64(3_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let board = Board(isNamed: isNamed)
            let devices = try (0..<3).map { _ in try board.device(&random) }
            var line = devices[0].delta
            for device in devices.dropFirst() {
                let merge = try Merge(base: board.base, ours: line, theirs: device.delta)
                let text = "seed \(seed): \(devices.map(\.delta)): \(merge)"
                let rest = try line.composed(with: merge.afterOurs)
                let other = try device.delta.composed(with: merge.afterTheirs)
                laws.check("ours, then the rest", try rest.isWay(board.base, merge), text)
                laws.check("theirs, then the rest", try other.isWay(board.base, merge), text)
                laws.check("the delta", try merge.delta.isWay(board.base, merge), text)
                line = rest
            }
            let end = try line.applied(to: board.base)
            for name in Board.names {
                let counts = end.counters(name)
                let text = "\(name), seed \(seed): \(devices.map(\.delta)): \(end)"
                laws.check("at most once", counts.count <= 1, text)
                guard let wanted = Board.sum(of: devices.compactMap { $0.acts[name] }) else {
                    continue
                }
                laws.check("\(wanted)", counts == [wanted], text)
            }
        }
        laws.record()
    }
}

extension Delta {
    fileprivate func isWay(_ base: Value, _ merge: Merge) throws -> Bool {
        try applied(to: base) == merge.value
    }
}

extension Value {
    /// The counters of all items with a name.
    fileprivate func counters(_ name: String) -> [Int64] {
        switch self {
        case .map(let map):
            if map["name"]?.text == name { return [map["n"]?.integer ?? -1] }
            return map.flatMap { $0.value.counters(name) }
        case .list(let items): return items.flatMap { $0.counters(name) }
        default: return []
        }
    }
}

/// Two lists and a record with counters.
private struct Board {
    static let names = ["milk", "bread", "wine", "eggs", "record"]
    static let start: Int64 = 10

    let isNamed: Bool

    /// The changes of one device to one item.
    struct Act {
        var added: Int64 = 0
        var isRemoved = false
        var isMoved = false
    }

    struct Device {
        let delta: Delta
        let acts: [String: Act]
    }

    var base: Value {
        [
            "a": .list(["milk", "bread", "wine"].map(item)), "b": [item("eggs")],
            "box": ["record": item("record"), "other": 1],
        ]
    }

    private func item(_ name: String) -> Value {
        var item: Value.Map = ["name": .string(Key(name)), "n": .int(Self.start)]
        if isNamed { item["id"] = .string(Key("id of \(name)")) }
        return .map(item)
    }

    /// The number that the counter shows; nil where it may show several, or be gone.
    static func sum(of acts: [Act]) -> Int64? {
        let added = acts.filter { !$0.isRemoved }.reduce(0) { $0 + $1.added }
        // A device that moves an item after it counted puts in a copy with a count of its own, and
        // the line does so when it moves or restores one. Two copies are two values of one number.
        let copies = acts.count { $0.isMoved && !$0.isRemoved && $0.added > 0 }
        let departures = acts.count { $0.isMoved || $0.isRemoved }
        guard added > 0, copies == 0 || departures < 2 else { return nil }
        return start + added
    }

    func device(_ random: inout Seeded) throws -> Device {
        var value = base
        var acts: [String: Act] = [:]
        let delta = try value.edit { draft in
            for _ in 0..<random.pick([1, 2, 3]) { act(on: &draft, &acts, &random) }
        }
        return Device(delta: delta, acts: acts)
    }

    private func act(
        on draft: inout Draft,
        _ acts: inout [String: Act],
        _ random: inout Seeded
    ) {
        if random.happens(0.25) {
            return actOnRecord(&draft, &acts["record", default: Act()], &random)
        }
        let list: Key = random.happens(0.7) ? "a" : "b"
        let count = draft[list].list.count
        guard count > 0 else { return }
        let place = Int.random(in: 0..<count, using: &random)
        let item = Value(draft[list][place])
        let name = item["name"]?.text ?? ""
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1, 2:
            let number = Int64.random(in: 1...5, using: &random)
            draft[list][place].n += number
            acts[name, default: Act()].added += number
        case 3:
            draft[list].list.remove(at: place)
            acts[name, default: Act()].isRemoved = true
        case 4: draft[list].list.move(from: place, to: 0)
        default:
            draft[list].list.remove(at: place)
            draft[list == "a" ? "b" : "a"].list.append(item)
            acts[name, default: Act()].isMoved = true
        }
    }

    /// Changes the record, or the map around it.
    private func actOnRecord(_ draft: inout Draft, _ act: inout Act, _ random: inout Seeded) {
        guard (draft.box as Value?) != nil, (draft.box.record as Value?) != nil else { return }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            let number = Int64.random(in: 1...5, using: &random)
            draft.box.record.n += number
            act.added += number
        case 2:
            draft.box.record = nil
            act.isRemoved = true
        case 3:
            draft.box = nil
            act.isRemoved = true
        default:
            // The same record, set anew.
            draft.box = Value(draft.box)
            act.isMoved = true
        }
    }
}
