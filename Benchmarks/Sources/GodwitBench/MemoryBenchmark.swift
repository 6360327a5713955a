import Foundation
import Godwit

/// What a large list takes in memory: a million items of four fields, in a process of its own.
struct MemoryBenchmark {
    let report: Report

    private static let itemCount = 1_000_000

    func run() throws {
        report.title("memory: a list of 1,000,000 maps of four fields, bytes for each")
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["--items", "\(Self.itemCount)"]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let figures = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard figures.count == 2, let bare = Double(figures[0]), let hashed = Double(figures[1])
        else { throw WrongResult() }
        add("bytes an item / limit", bare)
        add("with all digests / limit", hashed)
    }

    private func add(_ name: String, _ bytes: Double) {
        report.add(.init(name: name, ours: bytes, peer: 300.5, unit: "B", target: .below))
    }

    /// Prints how many bytes of resident memory each item takes, and how many with all digests.
    static func measureOnce(count: Int) throws {
        let before = try residentBytes()
        let items = (0..<Int64(count)).lazy.map { number -> Value in
            [
                "id": .int(number), "name": .string(Key("item \(number)")),
                "done": .bool(number.isMultiple(of: 3)),
                "price": .double(Finite(Double(number) / 4) ?? 0.0),
            ]
        }
        let list = Value.list(Value.List(items))
        let bare = try residentBytes() - before
        _ = list.digest
        let hashed = try residentBytes() - before
        guard list.list?.count == count else { throw WrongResult() }
        print(Double(bare) / Double(count), Double(hashed) / Double(count), terminator: "")
    }

    /// The second field of Linux's `statm`: resident pages.
    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            .split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { throw WrongResult() }
        return pages * Int(getpagesize())
    }
}
