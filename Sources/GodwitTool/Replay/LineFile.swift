import Foundation

/// The lines of a file, plain or compressed with xz, read as they are asked for.
final class LineFile: Sequence, IteratorProtocol {
    private let handle: FileHandle
    private let process: Process?
    private let path: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var failure: (any Error)?

    private static let chunkSizeInBytes = 1 << 20

    /// - Throws: ``ToolError`` when the file, or the program `xz` for one that needs it, is
    ///   missing.
    init(path: String) throws {
        self.path = path
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ToolError("\(path) cannot be read")
        }
        guard path.hasSuffix(".xz") else {
            process = nil
            handle = try FileHandle(forReadingFrom: URL(filePath: path))
            return
        }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["xz", "--decompress", "--stdout", "--", path]
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        self.process = process
        handle = pipe.fileHandleForReading
    }

    deinit { close() }

    /// The next line, without its end, or nil.
    func next() -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return Array(buffer[start..<end])
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            guard let chunk = readChunk() else {
                defer { buffer = [] }
                return buffer.isEmpty ? nil : buffer
            }
            buffer += chunk
        }
    }

    /// The next piece of the file; nil at its end, or where it cannot be read any further.
    private func readChunk() -> Data? {
        do {
            let chunk = try handle.read(upToCount: Self.chunkSizeInBytes)
            return chunk?.isEmpty == false ? chunk : nil
        } catch {
            failure = error
            return nil
        }
    }

    /// Ends the reading.
    ///
    /// - Throws: ``ToolError`` when the file could not be read, or unpacked, to its end.
    func finish() throws {
        close()
        if let failure { throw ToolError("\(path) could not be read: \(failure)") }
        guard let process, process.terminationReason == .exit, process.terminationStatus != 0 else {
            return
        }
        throw ToolError("\(path) could not be unpacked: xz said \(process.terminationStatus)")
    }

    private func close() {
        try? handle.close()
        process?.waitUntilExit()
    }
}
