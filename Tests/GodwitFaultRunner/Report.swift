import Foundation

/// What a run says of itself, a line each.
enum Report: Hashable, Sendable {
    /// The transaction with this mark is committed, and will not be lost.
    case done(mark: String, commit: Int64)
    /// Something threw; a transaction with this mark may be there all the same, but then whole.
    case refused(mark: String, reason: String)
    /// The store has broken a promise before the eyes of the run.
    case broken(String)
    /// The marks that the store shows at the end.
    case holds(marks: [String])
    /// The store was closed without an error, and nothing comes after.
    case closed

    var line: String {
        switch self {
        case .done(let mark, let commit): "done \(mark) \(commit)"
        case .refused(let mark, let reason):
            "refused \(mark) \(reason.replacing("\n", with: " "))"
        case .broken(let promise): "broken \(promise)"
        case .holds(let marks): "holds \(marks.joined(separator: ","))"
        case .closed: "closed"
        }
    }

    /// Reads a line; nil when the process was killed in the middle of it.
    init?(line: Substring) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        switch (words.first, words.count) {
        case ("done", 3): self = .done(mark: words[1], commit: Int64(words[2]) ?? 0)
        case ("refused", 3): self = .refused(mark: words[1], reason: words[2])
        case ("broken", 2...): self = .broken(words.dropFirst().joined(separator: " "))
        case ("holds", 1...):
            let marks = words.dropFirst().flatMap { $0.split(separator: ",") }
            self = .holds(marks: marks.map(String.init))
        case ("closed", 1): self = .closed
        default: return nil
        }
    }

    /// Writes the line to standard output in one call, so that a kill leaves it whole or away.
    func print() {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
