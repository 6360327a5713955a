import Foundation
import GodwitTestKit
import GodwitTree
import Testing

/// Suites that others have written for their formats; the data stays where it is, beside the
/// project.
@Suite(
    .enabled(
        if: RealHistory.isThere,
        "SKIPPED: ../shared/data is not here, so no foreign suite was tried"
    )
)
struct ConformanceTests {
    /// What JSON allows and we refuse on purpose: nobody knows which of two values is meant.
    static let refusedOnPurpose: Set<String> = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    @Test func `JSONTestSuite: what must be accepted is, what must be refused is`() throws {
        let folder = try Self.unpacked("json-test-suite.tar.xz")
        defer { try? FileManager.default.removeItem(at: folder) }
        var counts: [Character: Int] = [:]
        for file in try Self.files(in: folder.appending(path: "test_parsing")) {
            let name = file.lastPathComponent
            let value = try? Value(json: Array(try Data(contentsOf: file)))
            switch name.first {
            case "y": #expect((value != nil) != Self.refusedOnPurpose.contains(name), "\(name)")
            case "n": #expect(value == nil, "\(name)")
            default: break
            }
            if let value { #expect(try Value(json: value.jsonText()) == value, "\(name)") }
            counts[name.first ?? "?", default: 0] += 1
        }
        #expect(counts == ["y": 95, "n": 188, "i": 35])
    }

    @Test func `JSONTestSuite: what may be read in many ways is read, and written again`() throws {
        let folder = try Self.unpacked("json-test-suite.tar.xz")
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try Self.files(in: folder.appending(path: "test_transform"))
        #expect(!files.isEmpty)
        var readCount = 0
        for file in files {
            let data = Array(try Data(contentsOf: file))
            guard let value = try? Value(json: data) else { continue }
            readCount += 1
            #expect(try Value(json: value.jsonText()) == value, "\(file.lastPathComponent)")
        }
        #expect(files.count == 22)
        #expect(readCount == 10)
    }

    /// The file, how many cases it has, and how many of them are disabled.
    @Test(arguments: [("json-patch-tests", 95, 3), ("json-patch-spec-tests", 17, 1)])
    func `json-patch-tests: each case has its result, or its error`(
        name: String,
        count: Int,
        disabledCount: Int
    ) throws {
        let path = RealHistory.folder.appending(path: "\(name).json")
        let text = try String(contentsOf: path, encoding: .utf8)
        #expect(throws: TreeError.self, "an op that is there twice is refused") {
            try Value(json: text)
        }
        // Only disabled cases have two.
        let cases = try #require(try Value(json: text.withSecondOpsRenamed).list)

        #expect(cases.count == count)
        #expect(cases.count { $0["disabled"] == true } == disabledCount)
        for patchCase in cases where patchCase["disabled"] != true { try check(patchCase) }
    }

    @Test func `what people changed in real documents survives every format`() throws {
        let merges = try RealHistory.lines(of: "merges").map { try Value(json: Array($0)) }
        #expect(merges.count == 210)
        for merge in merges {
            let base = try #require(merge["base"])
            for side in ["ours", "theirs", "merged"] as [Key] {
                try checkFormats(base, try #require(merge[side]))
            }
        }
    }

    private func checkFormats(_ base: Value, _ next: Value) throws {
        let delta = Delta.diff(base, next)
        let patch = try JSONPatch(delta, on: base)
        #expect(try Value(edn: next.ednText()) == next)
        #expect(try Value(json: next.jsonText(indentation: 2)) == next)
        #expect(try Value(canonicalBytes: next.canonicalBytes) == next)
        #expect(try Delta(canonicalBytes: delta.canonicalBytes) == delta)
        #expect(try Delta(packed: delta.packed(on: base), on: base).applied(to: base) == next)
        #expect(try Delta(edn: delta.ednText()) == delta)
        #expect(try patch.applied(to: base) == next)
        #expect(try patch.delta(on: base).applied(to: base) == next)
        do {
            let merge = try delta.mergePatch(on: base)
            #expect(try base.applying(mergePatch: merge) == next)
            #expect(try Delta(mergePatch: merge, on: base).applied(to: base) == next)
        } catch TreeError.inexpressible {
            #expect(next.hasNullInMap, "only a null in a map has no merge patch")
        }
    }

    private func check(_ patchCase: Value) throws {
        let base = try #require(patchCase["doc"])
        let patch = try #require(patchCase["patch"])
        if patchCase["error"] != nil {
            #expect(throws: TreeError.self, "\(patchCase)") {
                try JSONPatch(patch).applied(to: base)
            }
            #expect(throws: TreeError.self, "\(patchCase)") { try JSONPatch(patch).delta(on: base) }
        } else {
            let result = patchCase["expected"] ?? base
            let delta = try JSONPatch(patch).delta(on: base)
            #expect(try JSONPatch(patch).applied(to: base) == result, "\(patchCase)")
            #expect(try delta.applied(to: base) == result, "\(patchCase)")
            #expect(try JSONPatch(delta, on: base).applied(to: base) == result, "\(patchCase)")
        }
    }

    private static func files(in folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
    }

    private static func unpacked(_ archive: String) throws -> URL {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appending(path: "godwit-\(UUID().uuidString)")
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "tar", "--extract", "--xz", "--file", RealHistory.folder.appending(path: archive).path,
            "--directory", folder.path,
        ]
        try process.start()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(archive) cannot be unpacked")
        return folder
    }
}

extension Value {
    fileprivate var hasNullInMap: Bool {
        switch self {
        case .map(let map): map.contains { $0.value == .null || $0.value.hasNullInMap }
        case .list(let items): items.contains(where: \.hasNullInMap)
        default: false
        }
    }
}

extension String {
    fileprivate var withSecondOpsRenamed: String {
        replacing(#""value": "qux", "op""#, with: #""value": "qux", "second op""#)
            .replacing(
                #""op": "move", "from":"/foo""#,
                with: #""second op": "move", "from":"/foo""#
            )
    }
}
