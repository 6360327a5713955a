import Foundation
import GodwitTestKit
import Testing

@testable import GodwitTree

/// What small inputs may cost.
///
/// The tests measure time: `make test` runs them apart from all others, one after the other.
@Suite(.serialized) struct BudgetTests {
    @Test func `what is packed can be read, however well it could be compressed`() throws {
        let many = Value.list(Array(repeating: .null, count: 1 << 18))
        let delta = Delta.set(many)
        let bytes = try delta.packed(on: 0)
        #expect(try Delta(packed: bytes, on: 0) == delta)
        #expect(bytes.count > 1 << 10, "in fewer bytes it would look like a bomb")
    }

    @Test func `a reader needs no more than its budget, and says what was too little`() throws {
        let json = "[" + String(repeating: "[0],", count: 999) + "[0]]"
        let limit = TreeError.overBudget(.memory, limit: 100_000)
        #expect(throws: limit) { try Value(json: json, budget: ReadBudget(memoryMax: 100_000)) }
        let value = try Value(json: json, budget: ReadBudget(memoryMax: 400_000))
        let bytes = value.canonicalBytes
        #expect(throws: limit) {
            try Value(canonicalBytes: bytes, budget: ReadBudget(memoryMax: 100_000))
        }
        #expect(try Value(canonicalBytes: bytes, budget: .unlimited) == value)
        #expect(limit.description.contains("100000 bytes of memory"))
        let none = ReadBudget(memoryMax: .min, stepsMax: .min)
        #expect(throws: TreeError.self) { try Value(json: json, budget: none) }
        #expect(try Value(json: "1", budget: none) == 1)
    }

    #if os(Linux)
    /// The memory of a process is only known as a whole, so that each bomb has one of its own.
    @Test(.enabled(if: BombProcess.bomb == nil), arguments: Bomb.all.indices)
    func `a bomb is refused in under 10 ms and 16 MB`(index: Int) throws {
        let report = try BombProcess.run(index)
        #expect(report == "", "\(Bomb.all[index].testDescription)")
    }

    /// Runs in the process of one bomb.
    @Test(.enabled(if: BombProcess.bomb != nil))
    func `the bomb of this process is read`() throws {
        let bomb = Bomb.all[try #require(BombProcess.bomb)]
        #expect(BombProcess.cost(of: bomb) == "")
    }
    #endif
}

#if os(Linux)
/// A process of the same tests that reads a single bomb.
enum BombProcess {
    private static let variable = "GODWIT_BOMB"
    private static let timeMax = Duration.milliseconds(10)
    private static let memoryMaxInKB = 16_000
    /// A machine that does much besides slows a thread down: one attempt in time is enough.
    private static let attempts = 10

    static var bomb: Int? {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    /// What the process has to complain of.
    static func run(_ index: Int) throws -> String {
        let process = Process()
        let output = Pipe.make()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "--testing-library", "swift-testing", "--filter", "the bomb of this process is read",
        ]
        process.environment = ProcessInfo.processInfo.environment
            .merging([variable: "\(index)"]) { $1 }
        process.standardOutput = output
        process.standardError = output
        try process.start()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        let isRun = text.contains("1 test in 1 suite passed")
        return process.terminationStatus == 0 && isRun ? "" : text
    }

    /// What is too much about a bomb.
    static func cost(of bomb: Bomb) -> String {
        let read = bomb.prepare()
        var times: [String] = []
        for attempt in 0..<attempts {
            let (before, began) = (residentInKB(peak: false), threadTime())
            let complaint = outcome(of: read)
            let time = threadTime() - began
            let taken = residentInKB(peak: true) - before
            if !complaint.isEmpty { return complaint }
            if attempt == 0, taken > memoryMaxInKB { return "it takes \(taken) KB" }
            if time <= timeMax { return "" }
            let plain = plainReading()
            if time <= plain { return "" }
            times.append("\(time), a plain document \(plain)")
        }
        return "it takes " + times.joined(separator: "; ")
    }

    /// How long this machine reads a megabyte of plain JSON: a slow one may take as long for a bomb.
    private static func plainReading() -> Duration {
        let json = Array(("[" + String(repeating: "0,", count: 1 << 19) + "0]").utf8)
        let began = threadTime()
        _ = try? Value(json: json)
        return threadTime() - began
    }

    private static func outcome(of read: Bomb.Reading) -> String {
        do {
            try read()
            return "it was read"
        } catch TreeError.wrongBase(let path, let reason) {
            return "it was read, and then did not fit at \(path): \(reason)"
        } catch is TreeError {
            return ""
        } catch is Bomb.Harmless {
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// The time that this thread has had, whatever others do.
    private static func threadTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The memory that this process has; of the peak, only what comes after this is called without.
    private static func residentInKB(peak: Bool) -> Int {
        if !peak {
            try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .ascii)
        }
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(peak ? "VmHWM:" : "VmRSS:") }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? .max / 2
    }
}
#endif
