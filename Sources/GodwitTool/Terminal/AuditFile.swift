import ArgumentParser
import Foundation
import Logging

/// The file of a server's audit records, one line of JSON each.
struct AuditFile: Sendable {
    let path: String

    /// - Throws: `ValidationError` where the file cannot be written.
    static func logger(_ path: String) throws -> Logger {
        let file = AuditFile(path: path)
        do {
            try file.append(Data())
        } catch {
            throw ValidationError(
                "--audit-log: \(path) cannot be written: \(error.localizedDescription)"
            )
        }
        return Logger(label: "godwit.audit") { label in
            JSONLog(label: label) { line in
                do {
                    try file.append(line)
                } catch {
                    // The server goes on: the operator finds the record here.
                    Terminal.warn("godwit: no audit record: \(error.localizedDescription)")
                    Terminal.warn(raw: String(decoding: line, as: UTF8.self))
                }
            }
        }
    }

    /// Opens the file each time, so that it may be moved away while the server runs.
    private func append(_ line: Data) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: line)
    }
}
