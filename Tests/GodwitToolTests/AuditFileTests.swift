import Foundation
import GodwitTestKit
import Logging
import Synchronization
import Testing

@testable import GodwitTool

/// The file of a server's audit records.
@Suite struct AuditFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("audit.jsonl") }

    init() throws { folder = try TemporaryFolder() }

    private var lines: [Substring] {
        get throws { try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") }
    }

    @Test func `records are lines of JSON, also after the file was moved away`() throws {
        let logger = try AuditFile(path).logger
        logger.notice("created", metadata: ["principal": "key ann"])
        try FileManager.default.moveItem(atPath: path, toPath: folder.path("old.jsonl"))
        for _ in 0..<2 { logger.notice("changed", metadata: ["principal": "key \"bob\"\n"]) }
        #expect(try lines.count == 2)
        let record = try JSONSerialization.jsonObject(with: Data(try lines[1].utf8))
        let fields = try #require(record as? [String: String])
        #expect(fields["message"] == "changed" && fields["principal"] == "key \"bob\"\n")
        #expect(fields["label"] == "godwit.audit" && fields["time"] != nil)
    }

    @Test func `a file that cannot be written is an error at the start`() {
        for path in [folder.path("none/audit.jsonl"), folder.path("")] {
            #expect(throws: (any Error).self) { try AuditFile(path) }
        }
    }

    @Test func `a pipe without a reader is an error, and no wait`() throws {
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: (any Error).self) { try AuditFile(path) }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a pipe with a reader, and a device, take records`() throws {
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        try AuditFile(path).append(Data("record\n".utf8))
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(read(reader, &bytes, bytes.count) == 7)
        _ = try AuditFile("/dev/null")
    }

    @Test func `a record after one that was cut off begins a line`() throws {
        let isFull = Atomic(true)
        let file = try AuditFile(path) { data, file in
            guard isFull.load(ordering: .relaxed), !data.isEmpty else {
                return try file.write(contentsOf: data)
            }
            try file.write(contentsOf: data.prefix(5))
            throw POSIXError(.ENOSPC)
        }
        #expect(throws: POSIXError.self) { try file.append(Data("{\"first\": 1}\n".utf8)) }
        isFull.store(false, ordering: .relaxed)
        for number in 2...3 { try file.append(Data("{\"n\": \(number)}\n".utf8)) }
        // Another launch looks at the end of the file.
        try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 5)
        let relaunched = try AuditFile(path)
        for number in 2...3 { try relaunched.append(Data("{\"n\": \(number)}\n".utf8)) }
        #expect(try lines.map(String.init) == ["{\"fir", "{\"n\": 2}", "{\"n\": 3}"])
    }
}
