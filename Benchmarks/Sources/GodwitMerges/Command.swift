import Foundation

/// Another program, which reads its input from a file, and runs until it ends.
struct Command {
    let arguments: [String]

    init(_ arguments: [String]) { self.arguments = arguments }

    /// What the program printed, and its exit code.
    func run(input: URL? = nil) throws -> (output: Data, status: Int32) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        if let input { process.standardInput = try FileHandle(forReadingFrom: input) }
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (data, process.terminationStatus)
    }
}

/// A folder that is there as long as this object.
final class ScratchFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appending(path: "godwit-merges-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
