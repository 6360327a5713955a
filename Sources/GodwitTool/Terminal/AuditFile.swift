import ArgumentParser
import Foundation
import Logging
import Synchronization

/// The file of a server's audit records, one line of JSON each.
final class AuditFile: Sendable {
    private let path: String
    private let write: @Sendable (Data, FileHandle) throws -> Void
    /// Whether the file ends in the middle of a line: the disk was full.
    private let isTorn = Mutex(false)

    /// - Throws: `ValidationError` where the file cannot be written.
    init(
        _ path: String,
        write: @escaping @Sendable (Data, FileHandle) throws -> Void = {
            try $1.write(contentsOf: $0)
        }
    ) throws {
        (self.path, self.write) = (path, write)
        do {
            try append(Data())
            let isTorn = try endsWithinLine()
            self.isTorn.withLock { $0 = isTorn }
        } catch {
            throw ValidationError("--audit-log: \(path) cannot be written: \(error)")
        }
    }

    var logger: Logger {
        Logger(label: "godwit.audit") { label in
            JSONLog(label: label) { line in
                do {
                    try self.append(line)
                } catch {
                    // The server goes on: the operator finds the record here.
                    Terminal.warn("godwit: no audit record: \(error)")
                    Terminal.warn(raw: String(decoding: line, as: UTF8.self))
                }
            }
        }
    }

    /// Whether an earlier launch has found the disk full in the middle of a record.
    ///
    /// A pipe or a terminal has no end to look at: to open a pipe for reading would wait for a writer.
    private func endsWithinLine() throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(
            atPath: URL(filePath: path).resolvingSymlinksInPath().path
        )
        guard attributes[.type] as? FileAttributeType == .typeRegular else { return false }
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        let end = try file.seekToEnd()
        guard end > 0 else { return false }
        try file.seek(toOffset: end - 1)
        return try file.read(upToCount: 1) != Data("\n".utf8)
    }

    /// Opens the file each time, so that it may be moved away while the server runs; a pipe without a reader is
    /// an error, and waits for none.
    func append(_ line: Data) throws {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK
        let descriptor = open(path, flags, 0o640)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try isTorn.withLock { isTorn in
            let wasTorn = isTorn
            isTorn = wasTorn || !line.isEmpty
            try write(wasTorn ? Data("\n".utf8) + line : line, file)
            isTorn = line.isEmpty && wasTorn
        }
    }
}
