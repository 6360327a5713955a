import Foundation
import GodwitTestKit

/// The folder of the peer programs, which `GODWIT_PEERS` names.
struct PeerFolder {
    let path: String

    /// The folder if it has a program, or nil with a word about what the report lacks.
    static func find(having program: String, for report: Report) -> PeerFolder? {
        let path = ProcessInfo.processInfo.environment["GODWIT_PEERS"] ?? ""
        let folder = PeerFolder(path: path)
        if path.isEmpty {
            report.note("GODWIT_PEERS names no folder of peers: they are left out")
        } else if !FileManager.default.fileExists(atPath: folder.file(program)) {
            report.note("GODWIT_PEERS has no \(program): its peers are left out")
        } else {
            return folder
        }
        return nil
    }

    func file(_ name: String) -> String { URL(filePath: path).appending(path: name).path }
}

/// A line of a peer's answer: one phase of its work.
struct PeerLine: Decodable {
    let peer: String
    let phase: String
    let count: Int?
    /// How many there would have been; fewer were done when it took too long.
    let wantedCount: Int?
    let seconds: Double?
    /// A number for the order in which operations were finished.
    let orderHash: String?
    /// User and system time of one of them.
    let cpuMicroseconds: Double?
    /// What one of them takes on the wire.
    let wireMeanInBytes: Double?
    let sizeInBytes: Int?

    enum CodingKeys: String, CodingKey {
        case peer, phase
        case count = "n"
        case wantedCount = "of"
        case seconds = "wall_s"
        case orderHash = "order_hash"
        case cpuMicroseconds = "cpu_us_op"
        case wireMeanInBytes = "wire_mean_b"
        case sizeInBytes = "bytes"
    }

    var perSecond: Double? {
        guard let count, let seconds, seconds > 0 else { return nil }
        return Double(count) / seconds
    }
}

/// A Python that has some of the peers' packages.
struct PeerPython {
    let path: String

    /// The folder's own, or one that is made for this run.
    init(
        _ packages: [String],
        of peers: PeerFolder,
        in folder: TemporaryFolder,
        for report: Report
    ) throws {
        let own = peers.file("venv/bin/python")
        if FileManager.default.isExecutableFile(atPath: own) {
            path = own
            return
        }
        let target = folder.path("venv")
        let made = try PeerProgram("python3", "-m", "venv", target).run()
        if let failure = made.failure { report.note("no Python for the peers: \(failure)") }
        let wanted = try String(contentsOfFile: peers.file("requirements.txt"), encoding: .utf8)
            .split(separator: "\n")
            .filter { line in packages.contains { line.hasPrefix($0 + "==") } }
        let list = folder.path("requirements.txt")
        try wanted.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
        path = target + "/bin/python"
        let installed = try PeerProgram(path, "-m", "pip", "install", "-q", "-r", list).run()
        if let failure = installed.failure { report.note("packages are missing: \(failure)") }
    }
}

/// A program beside this one, which runs until it ends.
struct PeerProgram {
    let arguments: [String]

    struct Answer {
        let lines: [PeerLine]
        /// The last that it complained about, if it failed.
        let failure: String?
    }

    init(_ arguments: String...) { self.arguments = arguments }

    func run() throws -> Answer {
        let (process, output, errors) = (Process(), Pipe(), try TemporaryOutput())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors.handle
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let decoder = JSONDecoder()
        let lines = data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? decoder.decode(PeerLine.self, from: $0)
        }
        let hasFailed = process.terminationStatus != 0
        let failure = hasFailed ? errors.lastLine ?? "it failed without a word" : nil
        return Answer(lines: lines, failure: failure)
    }
}

/// A file for what a program complains about: a pipe that nobody reads would stop it.
private final class TemporaryOutput {
    private let url: URL
    let handle: FileHandle

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "godwit-bench-\(UUID().uuidString)")
        try Data().write(to: url)
        handle = try FileHandle(forWritingTo: url)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var lastLine: String? {
        let data = (try? Data(contentsOf: url)) ?? Data()
        return data.split(separator: UInt8(ascii: "\n")).last.map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
