import Foundation
import GodwitReplication
import GodwitTree
import Logging

/// Standard output and standard error, as people see them.
enum Terminal {
    static func print(_ text: String) throws { try write(Array((text + "\n").utf8)) }

    static func print(json value: Value) throws { try print(value.jsonText(indentation: 2)) }

    /// Writes to standard output.
    ///
    /// - Throws: ``ToolError`` when not all of it can be written: a part must not pass for the whole.
    static func write(_ bytes: [UInt8]) throws {
        do throws(ToolError) {
            try bytes.write(to: STDOUT_FILENO)
        } catch {
            throw ToolError("the output cannot be written: \(error)")
        }
    }

    static func warn(_ text: String) { warn(raw: text + "\n") }

    static let isErrorInteractive = isatty(STDERR_FILENO) == 1

    /// Writes to standard error; where that fails, there is no one to tell.
    static func warn(raw text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// A log on standard error, so that standard output stays for what was asked for.
    static func logger(level: Logger.Level, isJSON: Bool = false) -> Logger {
        var logger = Logger(label: "godwit") { label -> any LogHandler in
            isJSON ? JSONLog(label: label) : StreamLogHandler.standardError(label: label)
        }
        logger.logLevel = level
        return logger
    }

    /// Columns as wide as what stands in them, numbers to the right; a state's id sticks out.
    static func table(_ rows: [[String]]) -> String {
        let columnCount = rows.map(\.count).max() ?? 0
        let widths = (0..<columnCount).map { column in
            rows.map { $0.dropFirst(column).first.map { isId($0) ? 0 : $0.count } ?? 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = zip(row, widths).map { cell, width in
                let space = String(repeating: " ", count: max(0, width - cell.count))
                return cell.first?.isNumber == true && !isId(cell) ? space + cell : cell + space
            }
            let line = cells.joined(separator: "  ")
            return "  " + line.trimmingSuffix { $0 == " " }
        }.joined(separator: "\n")
    }
}

extension Terminal {
    private static func isId(_ cell: String) -> Bool { cell.count == 2 * StateID.sizeInBytes }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
        var rest = self[...]
        while let last = rest.last, isTrimmed(last) { rest = rest.dropLast() }
        return String(rest)
    }
}

/// A line on standard error that shows how far long work is; silent when it is not a terminal.
struct ProgressBar {
    private let label: String
    private var shown = -1

    init(_ label: String) { self.label = label }

    /// - Parameter fraction: How much is done, from 0 to 1; nil when it is not known.
    mutating func show(_ count: Int, fraction: Double?) {
        guard Terminal.isErrorInteractive else { return }
        let width = 30
        let filled = fraction.map { Int($0 * Double(width)) } ?? count % width
        guard filled != shown || count.isMultiple(of: 10) else { return }
        shown = filled
        let bar =
            String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        Terminal.warn(raw: "\r\(label) \(bar) \(count)")
    }

    func finish() {
        guard Terminal.isErrorInteractive else { return }
        Terminal.warn(raw: "\r\u{1b}[K")
    }
}
