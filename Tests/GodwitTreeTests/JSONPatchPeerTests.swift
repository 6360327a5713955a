import Foundation
import GodwitTestKit
import GodwitTree
import Testing

/// Our patches in the hands of another implementation, Python's jsonpatch, and its patches in ours.
@Suite struct JSONPatchPeerTests {
    static let caseCount = 10_000

    @Test func `ten thousand patches of ours and of the peer do the same in both`() throws {
        let cases = (0..<UInt64(Self.caseCount)).map(PeerCase.init)
        let answers = try PeerCase.ask(cases.map(\.question))
        try #require(answers.count == Self.caseCount)

        var madeCount = 0
        for (peerCase, answer) in zip(cases, answers) {
            try peerCase.check(answer)
            if try peerCase.checkMade(answer) { madeCount += 1 }
        }
        #expect(madeCount > Self.caseCount * 99 / 100, "the peer's own patches, as far as it can")
    }
}

/// A document, a version of it, and steps that are made up one after the other.
///
/// Two things the peer does not do, though the RFC has them: copy the whole document into a part of
/// it, and replace what stands under the key `-`.
private struct PeerCase {
    let seed: UInt64
    let base: Value
    let next: Value
    let steps: JSONPatch
    let stepsResult: Value

    init(seed: UInt64) {
        var random = Seeded(seed: seed)
        self.seed = seed
        base = .map(random.treacherousMap()).withoutDashes
        next =
            random.happens(0.9)
            ? random.edited(base)
            : .map(random.treacherousMap())
                .withoutDashes
        var document = base
        var steps = JSONPatch()
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let step = random.operation(on: document)
            do {
                document = try JSONPatch(operations: [step]).applied(to: document)
            } catch {
                Issue.record("\(error) at \(step) of \(document), seed \(seed)")
                break
            }
            steps.operations.append(step)
        }
        self.steps = steps
        stepsResult = document
    }

    var question: Value {
        let ours = try? JSONPatch(.diff(base, next), on: base)
        return [
            "base": base, "next": next, "ours": ours?.encoded ?? .null, "steps": steps.encoded,
        ]
    }

    func check(_ answer: Value) throws {
        let delta = try steps.delta(on: base)
        #expect(answer["ours"] == [next], "ours, \(question)")
        #expect(answer["steps"] == [stepsResult], "steps, \(question)")
        #expect(try steps.applied(to: base) == stepsResult, "\(question)")
        #expect(try delta.applied(to: base) == stepsResult, "\(question)")
        #expect(try JSONPatch(delta, on: base).applied(to: base) == stepsResult, "\(question)")
    }

    /// Applies the patch that the peer has made; false when it has made none that it can apply.
    func checkMade(_ answer: Value) throws -> Bool {
        guard let made = answer["made"], made != .null,
            let result = answer["madeResult"]?.list?.first
        else { return false }
        let patch = try JSONPatch(made)
        #expect(try patch.applied(to: base) == result, "\(made) on \(base), seed \(seed)")
        #expect(try patch.delta(on: base).applied(to: base) == result, "\(made) on \(base)")
        return true
    }

    /// Asks the peer: one process for all cases.
    static func ask(_ questions: [Value]) throws -> [Value] {
        let manager = FileManager.default
        let file = manager.temporaryDirectory.appending(path: "godwit-peer-\(UUID().uuidString)")
        defer { try? manager.removeItem(at: file) }
        try questions.map { $0.jsonText() + "\n" }.joined()
            .write(to: file, atomically: false, encoding: .utf8)

        let script = URL(filePath: #filePath).appending(path: "../json_patch_peer.py").standardized
        let process = Process()
        let output = Pipe.make()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        try process.start()
        let lines = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(
            process.terminationStatus == 0,
            "python3 with its module jsonpatch is needed: pip install jsonpatch, or make setup"
        )
        return try lines.split(separator: UInt8(ascii: "\n")).map { try Value(json: Array($0)) }
    }
}

extension Seeded {
    /// A random operation that can be done to a document.
    fileprivate mutating func operation(on document: Value) -> JSONPatch.Operation {
        let all = document.pointers
        let place = pick(all)
        let parts = all.filter { !$0.tokens.isEmpty }
        let part = parts.isEmpty ? nil : pick(parts)
        switch (Int.random(in: 0..<6, using: &self), part) {
        case (0, let part?): return .remove(part)
        case (1, let from?):
            let removed = try? JSONPatch(operations: [.remove(from)]).applied(to: document)
            let rest = removed ?? document
            if let to = newPlace(in: rest), !to.tokens.starts(with: from.tokens) {
                return .move(from: from, to: to)
            }
        case (2, let from?):
            if let to = newPlace(in: document) { return .copy(from: from, to: to) }
        case (3, _):
            if let to = newPlace(in: document) {
                return .add(to, treacherousValue(depth: 2).withoutDashes)
            }
        case (4, _):
            if let value = document.part(place.tokens) { return .test(place, value) }
        default: break
        }
        let depth = place.tokens.isEmpty ? 3 : 2
        return .replace(place, treacherousValue(depth: depth).withoutDashes)
    }

    /// Where something can be added; nil when the document has no containers.
    private mutating func newPlace(in document: Value) -> JSONPointer? {
        let containers = document.pointers.filter {
            document.part($0.tokens)?.list != nil || document.part($0.tokens)?.map != nil
        }
        guard !containers.isEmpty else { return nil }
        var pointer = pick(containers)
        guard let items = document.part(pointer.tokens)?.list else {
            let key = treacherousKey()
            pointer.tokens.append(key == "-" ? "--" : key)
            return pointer
        }
        let index = Int.random(in: 0...items.count, using: &self)
        pointer.tokens.append(happens(0.2) ? "-" : Key("\(index)"))
        return pointer
    }
}

extension Value {
    fileprivate var withoutDashes: Value {
        if let items = list { return .list(items.map(\.withoutDashes)) }
        guard let map else { return self }
        return .map(
            Value.Map(map.map { ($0.key == "-" ? "--" : $0.key, $0.value.withoutDashes) })
        )
    }

    /// The pointers to this value and all its parts.
    fileprivate var pointers: [JSONPointer] {
        var pointers = [JSONPointer()]
        for entry in map ?? [:] { pointers += entry.value.pointers.map { $0.below(entry.key) } }
        for (index, item) in (list ?? []).enumerated() {
            pointers += item.pointers.map { $0.below(Key("\(index)")) }
        }
        return pointers
    }

    fileprivate func part(_ tokens: [Key]) -> Value? {
        guard let first = tokens.first else { return self }
        let rest = Array(tokens.dropFirst())
        if let items = list { return Int(first.text).flatMap { items[$0].part(rest) } }
        return self[first]?.part(rest)
    }
}

extension JSONPointer {
    fileprivate func below(_ token: Key) -> JSONPointer { JSONPointer(tokens: [token] + tokens) }
}
