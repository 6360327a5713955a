import ArgumentParser
import Foundation
import GodwitTree

/// A file that a command reads whole; `-` stands for standard input.
struct InputFile: ExpressibleByArgument {
    let path: String

    init(argument: String) { path = argument }

    /// Whether the name says that the text is EDN; everything else is JSON.
    var isEDN: Bool { path.hasSuffix(".edn") }

    func bytes() throws -> [UInt8] {
        if path == "-" { return Array(FileHandle.standardInput.readDataToEndOfFile()) }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ToolError("\(path) cannot be read")
        }
        return Array(data)
    }

    /// The JSON or EDN document in the file.
    ///
    /// - Throws: ``ToolError`` that names the file, the line and the column of a fault.
    func value(depthMax: Int = Value.depthMax) throws -> Value {
        try read { bytes throws(TreeError) in
            try isEDN
                ? Value(edn: bytes, depthMax: depthMax) : Value(json: bytes, depthMax: depthMax)
        }
    }

    /// The delta in the file, in its EDN form.
    func ednDelta() throws -> Delta {
        try read { bytes throws(TreeError) in try Delta(edn: bytes) }
    }

    /// A document in the form of this one.
    func text(of value: Value, onOneLine: Bool) -> String {
        isEDN ? value.ednText() : value.jsonText(indentation: onOneLine ? nil : 2)
    }

    private func read<Result>(_ body: ([UInt8]) throws(TreeError) -> Result) throws -> Result {
        let bytes = try bytes()
        do throws(TreeError) {
            return try body(bytes)
        } catch .malformed(_, let offset, let reason) {
            let before = bytes[..<min(offset, bytes.count)]
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
            throw ToolError("\(path):\(line):\(column): \(reason)")
        } catch {
            throw ToolError("\(path): \(error)")
        }
    }
}
