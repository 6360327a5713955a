import Foundation
import Godwit
import GodwitTestKit

/// A shopping list of maps, edited by a draft for each edit, beside structured CRDTs that do the
/// same edits.
///
/// Ours counts the edit, the delta and its bytes; of all, the quickest run counts. Peers write their
/// history as they go, and need no server; ours needs one, and keeps no more history than it must.
///
/// The limits of time are parts of Loro's in the same run: they were set where it takes 9.0 µs, as
/// 3.0 µs for an edit, and 6.0 with the digest of the list.
struct BoardBenchmark {
    let folder: TemporaryFolder
    let report: Report

    fileprivate static let runCount = 3

    private static let packages = [
        "pycrdt", "loro", "automerge", "anyio", "idna", "typing_extensions",
    ]

    func run() throws {
        report.title("board: 10,000 edits of a list of 1,000 maps, CPU µs and bytes for each")
        guard let peers = PeerFolder.find(having: "board_gen.py", for: report) else { return }
        let scripts = try copied(peers)
        _ = try PeerProgram("python3", scripts + "/board_gen.py").run()
        let board = try Board(path: scripts + "/data/board.json")

        let ours = try board.measure()
        let python = try PeerPython(Self.packages, of: peers, in: folder, for: report).path
        for name in ["loro", "automerge", "pycrdt"] {
            let program = PeerProgram(python, scripts + "/board_crdt.py", name)
            let answers = try (0..<Self.runCount).map { _ in try program.run() }
            if let line = answers[0].lines.first { report.note(line.peer) }
            compare(ours, with: name, answers.map(\.lines))
            if let failure = answers[0].failure { report.note("\(name) failed: \(failure)") }
        }
        report.add("bytes an edit / limit", ours.meanBytes, 18.25, "B", .below)
        report.add("1,000 edits behind / limit", Double(ours.catchUpBytes), 4_718.5, "B", .below)
        try sizes(board, ours)
    }

    private func compare(_ ours: Board.Figures, with name: String, _ runs: [[PeerLine]]) {
        let edits = runs.joined().filter { $0.phase == "edits_10k_1txn_each_with_wire" }
        if let peer = edits.compactMap(\.cpuMicroseconds).min() {
            let isLoro = name == "loro"
            report.add("CPU an edit", ours.cpu, peer, "µs", isLoro ? .atMost(3.0 / 9.0) : .below)
            let target = isLoro ? Comparison.Target.atMost(6.0 / 9.0) : .none
            report.add("CPU an edit, with the list's digest", ours.withDigest, peer, "µs", target)
        }
        if let peer = edits.first?.wireMeanInBytes {
            report.add("bytes an edit", ours.meanBytes, peer, "B", .below)
        }
        let stale = runs.joined().first { $0.phase == "stale_1k_edits_catchup" }
        if let peer = stale?.sizeInBytes {
            report.add("1,000 edits behind", Double(ours.catchUpBytes), Double(peer), "B", .below)
        }
    }

    /// The same edits in lists ten times shorter and longer.
    private func sizes(_ board: Board, _ ours: Board.Figures) throws {
        for count in [100, 10_000] {
            let other = try board.resized(to: count).measure()
            report.add("CPU an edit, \(count) items / 1,000", other.cpu, ours.cpu, "µs", .none)
        }
    }

    private func copied(_ peers: PeerFolder) throws -> String {
        let target = folder.path("board")
        let manager = FileManager.default
        try manager.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in ["board_gen.py", "board_crdt.py", "board_sync.py", "common.py"] {
            try manager.copyItem(atPath: peers.file(name), toPath: target + "/" + name)
        }
        return target
    }
}

/// The workload: a list and what is done to it.
struct Board {
    private let initial: Value
    private let edits: [Edit]

    private enum Edit {
        case add(Int, Value)
        case check(Int, Value)
        case rename(Int, Value)
        case move(Int, Int)
        case delete(Int)
    }

    struct Figures {
        /// µs of CPU for an edit, its delta and its bytes.
        let cpu: Double
        /// The same, with the digest of what comes of it.
        let withDigest: Double
        let meanBytes: Double
        /// What brings a client up to date that has missed the last tenth.
        let catchUpBytes: Int
    }

    init(path: String) throws {
        let value = try Value(json: Array(Data(contentsOf: URL(filePath: path))))
        initial = value["initial"] ?? []
        edits = (value["ops"]?.list ?? []).compactMap { Self.edit(Array($0.list ?? [])) }
    }

    private init(initial: Value, edits: [Edit]) { (self.initial, self.edits) = (initial, edits) }

    private static func edit(_ fields: [Value]) -> Edit? {
        guard let name = fields.first?.text, let place = fields[1].integer.map({ Int($0) }) else {
            return nil
        }
        switch name {
        case "add": return .add(place, fields[2])
        case "check": return .check(place, fields[2])
        case "rename": return .rename(place, fields[2])
        case "move": return .move(place, Int(fields[2].integer ?? 0))
        default: return .delete(place)
        }
    }

    /// The same kinds of edits in a list of another length.
    func resized(to count: Int) -> Board {
        let items = Array(initial.list ?? [])
        let list = (0..<count).map { items[$0 % items.count] }
        var length = count
        var random = Seeded(seed: 1)
        let edits = self.edits.map { edit -> Edit in
            let place = Int.random(in: 0..<max(1, length), using: &random)
            switch edit {
            case .add(_, let value):
                length += 1
                return .add(place, value)
            case .check(_, let value): return .check(place, value)
            case .rename(_, let value): return .rename(place, value)
            case .move: return .move(place, Int.random(in: 0..<length, using: &random))
            case .delete where length > count / 2:
                length -= 1
                return .delete(place)
            case .delete: return .check(place, true)
            }
        }
        return Board(initial: .list(list), edits: edits)
    }

    func measure() throws -> Figures {
        var run = Run(value: initial)
        _ = initial.digest
        let cpu = try quickest(of: BoardBenchmark.runCount) {
            run = Run(value: initial)
            return try cpuSeconds { try edit(&run) }
        }
        let withDigest = try quickest(of: BoardBenchmark.runCount) {
            var run = Run(value: initial)
            return try cpuSeconds { try edit(&run) { _ = $0.digest } }
        }
        let late = edits.count * 9 / 10
        let missed = try composed(run.deltas[late...])
        var packing = Delta.Packing()
        packing.level = 19
        let catchUp = try missed.packed(on: run.late, packing)
        guard try Delta(packed: catchUp, on: run.late).applied(to: run.late) == run.value else {
            throw WrongResult()
        }
        let microseconds = 1e6 / Double(edits.count)
        return Figures(
            cpu: cpu * microseconds,
            withDigest: withDigest * microseconds,
            meanBytes: Double(run.sizeInBytes) / Double(edits.count),
            catchUpBytes: catchUp.count
        )
    }

    /// The list with all edits so far, and what a client gets of them.
    private struct Run {
        var value: Value
        /// As it was before the last tenth of the edits.
        var late = Value.null
        var deltas: [Delta] = []
        var sizeInBytes = 0
    }

    private func edit(_ run: inout Run, _ look: (Value) -> Void = { _ in }) throws {
        for (index, edit) in edits.enumerated() {
            if index == edits.count * 9 / 10 { run.late = run.value }
            let base = run.value
            let delta = try run.value.edit { Self.apply(edit, &$0) }
            run.sizeInBytes += try delta.packed(on: base, .plain).count
            run.deltas.append(delta)
            look(run.value)
        }
    }

    private func composed(_ deltas: ArraySlice<Delta>) throws -> Delta {
        guard deltas.count > 1 else { return deltas.first ?? .keep }
        let middle = deltas.startIndex + deltas.count / 2
        return try composed(deltas[..<middle]).composed(with: composed(deltas[middle...]))
    }

    private static func apply(_ edit: Edit, _ board: inout Draft) {
        switch edit {
        case .add(let place, let value): board.list.insert(value, at: min(place, board.list.count))
        case .check(let place, let value): board[place].crossed = value
        case .rename(let place, let value): board[place].name = value
        case .move(let source, let target): board.list.move(from: source, to: target)
        case .delete(let place): board.list.remove(at: place)
        }
    }
}

/// A benchmark whose result is wrong measures nothing.
struct WrongResult: Error {}
