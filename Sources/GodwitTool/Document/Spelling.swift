extension Layout.Spelling {
    /// A string in quotes, with the escapes that it needs and those that the document uses.
    func quoted(_ text: String) -> [UInt8] {
        var bytes = [UInt8(ascii: "\"")]
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "/" where escapesSlashes: bytes += "\\/".utf8
            case "\n": bytes += "\\n".utf8
            case "\r": bytes += "\\r".utf8
            case "\t": bytes += "\\t".utf8
            case "\u{8}": bytes += "\\b".utf8
            case "\u{c}": bytes += "\\f".utf8
            case "\u{0}"..<" ": bytes += escape(UInt16(scalar.value))
            case "\u{80}"... where escapesNonASCII:
                for unit in String(scalar).utf16 { bytes += escape(unit) }
            default: bytes += String(scalar).utf8
            }
        }
        return bytes + [UInt8(ascii: "\"")]
    }

    private func escape(_ unit: UInt16) -> [UInt8] {
        let digits = String(unit, radix: 16, uppercase: hasCapitalDigits)
        return Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
    }
}
