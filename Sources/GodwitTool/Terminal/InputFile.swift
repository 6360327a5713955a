import ArgumentParser
import Foundation
import GodwitTree

/// A file that a command reads whole; `-` stands for standard input.
struct InputFile: ExpressibleByArgument {
    let path: String

    init(argument: String) { path = argument }

    func bytes() throws -> [UInt8] {
        if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ToolError("\(path) cannot be read")
        }
        return Array(data)
    }

    /// The JSON document in the file.
    ///
    /// - Throws: ``ToolError`` that names the file, the line and the column of a fault.
    func value(depthMax: Int = Value.depthMax) throws -> Value {
        let bytes = try bytes()
        do {
            return try Value(json: bytes, depthMax: depthMax)
        } catch .malformed(_, let offset, let reason) {
            let before = bytes[..<min(offset, bytes.count)]
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
            throw ToolError("\(path):\(line):\(column): \(reason)")
        } catch {
            throw ToolError("\(path): \(error)")
        }
    }

    /// The delta in the file, in its JSON form.
    func delta() throws -> Delta {
        do {
            return try Delta(encoded: value(depthMax: Delta.encodedDepthMax))
        } catch let error as TreeError {
            throw ToolError("\(path): \(error)")
        }
    }
}
