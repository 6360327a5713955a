import Foundation

/// A file that another one takes the place of: a reader sees the one or the other.
struct ReplacedFile {
    private let path: String
    private let rights: mode_t

    /// - Throws: ``ToolError`` when there is no such file.
    init(_ path: String) throws {
        // The system follows links; the letters of a path do not say where `..` leads.
        guard let real = realpath(path, nil) else { throw ToolError.system }
        defer { free(real) }
        self.path = String(cString: real)
        let attributes = try? FileManager.default.attributesOfItem(atPath: self.path)
        guard let rights = attributes?[.posixPermissions] as? Int else { throw ToolError.system }
        self.rights = mode_t(rights) & 0o7777
    }

    /// - Throws: ``ToolError``; the file is as it was then.
    func replace(with bytes: [UInt8]) throws {
        let temporary = path + ".godwit-\(getpid())"
        // No other user reads it before it has the rights of the file.
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw ToolError.system }
        defer { close(descriptor) }
        do {
            try bytes.write(to: descriptor)
            guard fchmod(descriptor, rights) == 0, rename(temporary, path) == 0 else {
                throw ToolError.system
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }
}

extension [UInt8] {
    /// Writes all bytes to an open file.
    func write(to descriptor: Int32) throws(ToolError) {
        var rest = self[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count >= 0 || errno == EINTR else { throw .system }
            rest = rest.dropFirst(Swift.max(count, 0))
        }
    }
}

extension ToolError {
    /// What the last call of the system failed with.
    fileprivate static var system: ToolError { ToolError(String(cString: strerror(errno))) }
}
