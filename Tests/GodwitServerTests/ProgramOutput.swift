import Foundation
import GodwitTestKit
import Testing

/// What a program prints; `make setup` installs it.
func output(of program: String, _ arguments: [String]) async throws -> String {
    let folder = try TemporaryFolder()
    let path = folder.path("output")
    try Data().write(to: URL(filePath: path))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(forWritingAtPath: path)
    process.standardError = FileHandle.nullDevice
    // No thread waits for the program: it asks a server of this process.
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in end.finish() }
    try process.start()
    for await _ in ends {}
    try #require(process.terminationStatus == 0, "\(program) failed")
    return try String(contentsOf: URL(filePath: path), encoding: .utf8)
}
