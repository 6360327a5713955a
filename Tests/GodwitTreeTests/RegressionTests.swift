import Foundation
import GodwitTree
import Testing

/// What the fuzzer begins with, and what it has found, without the fuzzer.
@Suite struct RegressionTests {
    @Test(arguments: Reader.allCases)
    func `every seed of the fuzzer is taken, and keeps the laws`(reader: Reader) throws {
        for seed in try reader.seeds() {
            #expect(try reader.check(seed), "\(String(decoding: seed, as: UTF8.self))")
        }
    }

    @Test(arguments: Reader.allCases)
    func `what once broke a reader does so no more`(reader: Reader) throws {
        let folder = URL(filePath: #filePath).appending(path: "../Regressions/\(reader.rawValue)")
        #expect(
            FileManager.default.fileExists(
                atPath: folder.standardized.deletingLastPathComponent().path
            )
        )
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.standardized.path)
        for name in (names ?? []).sorted() {
            let bytes = Array(try Data(contentsOf: folder.standardized.appending(path: name)))
            #expect(throws: Never.self, "\(name)") { try reader.check(bytes) }
        }
    }
}
