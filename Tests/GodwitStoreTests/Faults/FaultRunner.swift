import Foundation
import GodwitTestKit
import Testing

@testable import GodwitFaultRunner

#if os(Linux)
/// The library that disturbs the runner's writes, compiled once for all tests.
struct FaultShim {
    struct NoCompiler: Error {}

    static let shared = Result { try FaultShim() }

    let path: String
    private let folder: TemporaryFolder

    private init() throws {
        folder = try TemporaryFolder()
        path = folder.path("fault_shim.so")
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../FaultShim/fault_shim.c").standardized.path
        for compiler in ["cc", "clang"] {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [compiler, "-shared", "-fPIC", "-O2", "-o", path, source, "-ldl"]
            process.standardError = FileHandle.nullDevice
            try process.start()
            process.waitUntilExit()
            if process.terminationStatus == 0 { return }
        }
        throw NoCompiler()
    }
}

/// What happens to one call by which the runner writes.
struct Fault: CustomStringConvertible {
    enum Kind: String, CaseIterable {
        case kill, eio, enospc, short
    }

    let kind: Kind
    /// The number of the call, from 1.
    let call: Int
    let isForever: Bool

    /// Everything that can happen to a call.
    static func all(at call: Int) -> [Fault] {
        Kind.allCases.map { Fault(kind: $0, call: call, isForever: false) }
            + [Kind.eio, .enospc].map { Fault(kind: $0, call: call, isForever: true) }
    }

    var description: String { "\(kind) at call \(call)\(isForever ? " and for ever" : "")" }
}

/// A run of the runner under the shim.
struct FaultRun {
    /// What it said until it ended, or was killed.
    let reports: [Report]
    /// How many calls there were, if it came to its end.
    let callCount: Int?
    /// The signal that ended it, if one did: its own alarm, when it hung.
    let signal: Int32?

    init(
        _ scenario: Scenario,
        at path: String,
        fault: Fault? = nil,
        options: [String] = []
    ) throws {
        let process = Process()
        process.executableURL = BuiltProgram.url("GodwitFaultRunner")
        process.arguments = ["run", scenario.name, path] + options
        var environment = ProcessInfo.processInfo.environment
        let others = environment["LD_PRELOAD"].map { $0 + ":" } ?? ""
        environment["LD_PRELOAD"] = others + (try FaultShim.shared.get().path)
        environment["FAULT_PATH"] = path
        environment["FAULT_PRINT"] = "1"
        environment["FAULT_KIND"] = fault?.kind.rawValue
        environment["FAULT_CALL"] = fault.map { "\($0.call)" }
        environment["FAULT_FOREVER"] = fault?.isForever == true ? "1" : nil
        process.environment = environment
        let (output, errors) = (Pipe.make(), Pipe.make())
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        let total = String(
            decoding: errors.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        reports = text.split(separator: "\n").compactMap { Report(line: $0) }
        callCount = total.firstMatch(of: /calls (\d+)/).flatMap { Int($0.1) }
        signal = process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
    }
}
#endif
