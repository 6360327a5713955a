import ArgumentParser
import Foundation
import GodwitTree

/// A file that a command reads whole; `-` stands for standard input, and a pipe is a file too.
struct InputFile: ExpressibleByArgument {
    let path: String

    init(argument: String) { path = argument }

    /// Whether the name says that the text is EDN; everything else is JSON.
    var isEDN: Bool { path.hasSuffix(".edn") }

    /// Whether the file can be read only once, and by one reader.
    var isStandardInput: Bool { path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" }

    /// - Throws: A validation error when two files are standard input.
    static func requireOneStandardInput(_ files: InputFile?...) throws {
        guard files.count(where: { $0?.isStandardInput == true }) > 1 else { return }
        throw ValidationError("Standard input can be read once: name a file, or use <(command).")
    }

    /// The content of a file, or of a pipe to its end, which `FileManager` does not read.
    func bytes() throws -> [UInt8] {
        if isStandardInput { return Array(try FileHandle.standardInput.readToEnd() ?? Data()) }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw ToolError("\(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { try? handle.close() }
        do {
            return Array(try handle.readToEnd() ?? Data())
        } catch {
            throw ToolError("\(path) cannot be read: is it a folder?")
        }
    }

    /// The JSON or EDN document in the file; a file that people name may be as large as it is.
    ///
    /// - Throws: ``ToolError`` that names the file, the line and the column of a fault.
    func value(depthMax: Int = Value.depthMax) throws -> Value {
        try read { bytes throws(TreeError) in
            try isEDN
                ? Value(edn: bytes, depthMax: depthMax, budget: .unlimited)
                : Value(plainJSON: bytes, depthMax: depthMax)
        }
    }

    /// The JSON document in the file, as it is written.
    ///
    /// - Throws: ``ToolError`` that names the file, the line and the column of a fault.
    func document(depthMax: Int = Value.depthMax) throws -> Document {
        try read { bytes throws(TreeError) in try Document(bytes, depthMax: depthMax) }
    }

    enum DeltaForm {
        case sealed(SealedDelta)
        case bare(Delta)
    }

    /// The delta in the file, in its EDN form.
    func ednDelta() throws -> DeltaForm {
        try read { bytes throws(TreeError) in
            if let delta = try SealedDelta(edn: bytes, budget: .unlimited) { return .sealed(delta) }
            return .bare(try Delta(edn: bytes, budget: .unlimited))
        }
    }

    private func read<Result>(_ body: ([UInt8]) throws(TreeError) -> Result) throws -> Result {
        let bytes = try bytes()
        do throws(TreeError) {
            return try body(bytes)
        } catch {
            throw ToolError(error, in: bytes, of: path)
        }
    }
}

extension ToolError {
    /// A fault with the file, the line and the column where it is.
    init(_ error: TreeError, in bytes: [UInt8], of path: String) {
        guard case .malformed(_, let offset, let reason) = error else {
            self.init("\(path): \(error)")
            return
        }
        let before = bytes[..<min(offset, bytes.count)]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
        self.init("\(path):\(line):\(column): \(reason)")
    }
}

extension Value {
    /// Reads JSON with numbers as doubles where they are no ints; a byte order mark is passed over.
    init(plainJSON bytes: [UInt8], depthMax: Int = Value.depthMax) throws(TreeError) {
        let mark = Array("\u{FEFF}".utf8)
        try self.init(
            json: bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes,
            depthMax: depthMax,
            budget: .unlimited
        )
    }
}
