import Foundation
import Godwit
import GodwitTestKit

/// The keystrokes of one paper, through drafts of one string, beside CRDTs for text.
struct TextBenchmark {
    let folder: TemporaryFolder
    let report: Report

    private struct Keystroke {
        let range: Range<Int>
        let text: String
    }

    func run() throws {
        report.title("text: 259,778 keystrokes that end in 104,852 characters")
        let path = Document.dataFolder.appending(path: "automerge-paper.json.gz").path
        guard FileManager.default.fileExists(atPath: path) else {
            return report.note("../shared/data is not here: left out")
        }
        let (keystrokes, end) = try load(path)
        var final: Value = ["text": ""]
        let whole = try cpuSeconds {
            try final.edit { Self.type(keystrokes[...], &$0["text"].text) }
        }
        guard final["text"]?.text == end else { throw WrongResult() }
        report.add("all in one draft", whole, 0.5, "s", .below)
        for size in [1, 10, 100] { try batches(of: size, keystrokes, final) }
        let atRest =
            Zstandard.compressed(final.canonicalBytes)?.count ?? final.canonicalBytes.count
        report.add("at rest", Double(atRest), 26_000, "B", .below)
        try comparePeers(whole, path)
    }

    /// A draft for each few keystrokes, and what its delta takes.
    private func batches(of size: Int, _ keystrokes: [Keystroke], _ end: Value) throws {
        var (value, bytes): (Value, Int) = (["text": ""], 0)
        let seconds = try cpuSeconds {
            for start in stride(from: 0, to: keystrokes.count, by: size) {
                let base = value
                let batch = keystrokes[start..<min(start + size, keystrokes.count)]
                let delta = try value.edit { Self.type(batch, &$0["text"].text) }
                bytes += try delta.packed(on: base, .plain).count
            }
        }
        guard value == end else { throw WrongResult() }
        let perEdit = Double(bytes) / Double(keystrokes.count)
        report.add("bytes an edit, \(size) a draft", perEdit, 3, "B", size == 10 ? .below : .none)
        let microseconds = seconds * 1e6 / Double(keystrokes.count)
        report.note("    in \(String(format: "%.2f", microseconds)) µs of CPU an edit")
    }

    private func comparePeers(_ seconds: Double, _ trace: String) throws {
        guard let peers = PeerFolder.find(having: "text_crdt.py", for: report) else { return }
        let target = folder.path("text")
        let manager = FileManager.default
        try manager.createDirectory(atPath: target + "/data", withIntermediateDirectories: true)
        for name in ["text_crdt.py", "text_prep.py", "board_sync.py", "common.py"] {
            try manager.copyItem(atPath: peers.file(name), toPath: target + "/" + name)
        }
        try manager.copyItem(atPath: trace, toPath: target + "/data/automerge-paper.json.gz")
        let packages = ["pycrdt", "loro", "automerge", "anyio", "idna", "typing_extensions"]
        let python = try PeerPython(packages, of: peers, in: folder, for: report).path
        for name in ["loro", "automerge", "pycrdt"] {
            let answer = try PeerProgram(python, target + "/text_crdt.py", name).run()
            let line = answer.lines.first { $0.phase == "trace_1000_per_txn" }
            if let line, let peer = line.cpuMicroseconds, let count = line.count {
                report.add(line.peer, seconds, peer * Double(count) / 1e6, "s", .none)
            }
            if let failure = answer.failure { report.note("\(name) failed: \(failure)") }
        }
    }

    private func load(_ path: String) throws -> ([Keystroke], String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", "--decompress", "--stdout", path]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let trace = try Value(json: Array(data))
        let patches = (trace["txns"]?.list ?? []).flatMap { Array($0["patches"]?.list ?? []) }
        let keystrokes = patches.compactMap { patch -> Keystroke? in
            guard let fields = patch.list, let start = fields[0].integer,
                let count = fields[1].integer, let text = fields[2].text
            else { return nil }
            return Keystroke(range: Int(start)..<Int(start + count), text: text)
        }
        return (keystrokes, trace["endContent"]?.text ?? "")
    }

    private static func type(_ keystrokes: ArraySlice<Keystroke>, _ text: inout TextDraft) {
        for keystroke in keystrokes { text.replaceSubrange(keystroke.range, with: keystroke.text) }
    }
}
