import Foundation

/// A program that this one runs, and waits for.
enum Subprocess {
    /// - Returns: Its exit code, 128 and more where a signal has ended it, and what it has printed.
    static func run(
        _ program: String,
        _ arguments: [String]
    ) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let isEnded = process.terminationReason == .uncaughtSignal
        return (process.terminationStatus + (isEnded ? 128 : 0), bytes)
    }
}
