package import Foundation
import Synchronization

/// One run of a program of this package, whose lines are heard as it says them.
///
/// Unchecked, because `Process` is not Sendable; it is started here, and ended by one thread.
package final class ProgramRun: @unchecked Sendable {
    private let process = Process()
    private let output = Pipe.make()
    private let isRead = DispatchSemaphore(value: 0)
    private let lastLine = Mutex("")
    private let isKilled = Mutex(false)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - errors: The file that gets what it says of errors; nil for the standard error of the tests.
    ///   - whenEnded: Called when it has ended by itself.
    ///   - hear: Called on a thread of the run's own, for each line.
    package init(
        _ name: String,
        _ arguments: [String],
        errors: String? = nil,
        whenEnded: @escaping @Sendable () -> Void = {},
        hear: @escaping @Sendable (String) -> Void
    ) throws {
        process.executableURL = BuiltProgram.url(name)
        process.arguments = arguments
        process.standardOutput = output
        if let errors {
            _ = FileManager.default.createFile(atPath: errors, contents: nil)
            process.standardError = FileHandle(forWritingAtPath: errors)
        }
        try process.start()
        // A process that cannot tell is a process that waits.
        Thread { [self] in
            read(hear)
            if !isKilled.withLock(\.self) { whenEnded() }
            isRead.signal()
        }.start()
    }

    private func read(_ hear: (String) -> Void) {
        var line: [UInt8] = []
        while case let more = output.fileHandleForReading.availableData, !more.isEmpty {
            for byte in more {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                let text = String(decoding: line, as: UTF8.self)
                line = []
                lastLine.withLock { $0 = text }
                hear(text)
            }
        }
    }

    /// Kills it, and returns how it ended when all that it had said was heard.
    package func kill() async -> Process.TerminationReason {
        await onThread { [self] in
            isKilled.withLock { $0 = true }
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            isRead.wait()
            return process.terminationReason
        }
    }

    /// Waits until it has ended by itself, and returns what it said last; nil when it has failed.
    ///
    /// One that does not end for so many seconds is killed, and has failed.
    package func end(within seconds: Double = 600) async -> String? {
        await onThread { [self] in
            if isRead.wait(timeout: .now() + seconds) == .timedOut {
                Foundation.kill(process.processIdentifier, SIGKILL)
                isRead.wait()
            }
            process.waitUntilExit()
            return process.terminationStatus == 0 ? lastLine.withLock(\.self) : nil
        }
    }
}

/// Events that other processes tell of, whichever of them has told.
package final class Arrivals: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private static let endMax = 1_000

    package init() {}

    package func add() { semaphore.signal() }

    /// Waits for some more events, and a moment: a thousand turns are some microseconds.
    package func wait(for count: Int, spinning turns: Int) async {
        await onThread { [semaphore] in
            for _ in 0..<count { semaphore.wait() }
            let spun = Atomic(0)
            for _ in 0..<turns { spun.add(1, ordering: .relaxed) }
        }
    }

    /// Waits no longer: a process that could tell of one has ended by itself.
    package func end() {
        for _ in 0..<Self.endMax { semaphore.signal() }
    }
}

/// Runs what waits for a process on a thread of its own: this process may be the cloud that it needs.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread { continuation.resume(returning: body()) }.start()
    }
}
