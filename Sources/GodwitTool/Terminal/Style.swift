import Foundation

extension String {
    /// The text without what a terminal would obey: other control characters than newlines and tabs
    /// are escaped, as JSON does it.
    var withoutControls: String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.generalCategory == .control && !["\n", "\t"].contains(scalar)
        }
        guard unicodeScalars.contains(where: isControl) else { return self }
        return unicodeScalars.map { scalar in
            isControl(scalar) ? "\\u" + String(format: "%04x", scalar.value) : String(scalar)
        }.joined()
    }
}

/// Colours, for terminals that show them to people who want them (see no-color.org).
struct Style {
    let isColoured: Bool

    /// Colours on standard output, unless it is no terminal, or `NO_COLOR` is set, or `TERM` is
    /// `dumb`.
    static let standardOutput: Style = {
        let environment = ProcessInfo.processInfo.environment
        let isUnwanted = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        let isForced = environment["CLICOLOR_FORCE"].map { $0 != "0" && !$0.isEmpty } ?? false
        let canShow = isatty(STDOUT_FILENO) == 1 && environment["TERM"] != "dumb"
        return Style(isColoured: !isUnwanted && (isForced || canShow))
    }()

    enum Colour: Int {
        case red = 31
        case green = 32
        case yellow = 33
        case cyan = 36
        case grey = 90
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}
