/// A person who resolves conflicts.
enum MarkedChoice {
    /// What a person keeps of a marked text.
    static func choose(_ side: String, from bytes: [UInt8]) -> [UInt8] {
        var current: String?
        var text = ""
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            switch line {
            case "<<<<<<< ours": current = "ours"
            case "||||||| base": current = "base"
            case "=======": current = "theirs"
            case ">>>>>>> theirs": current = nil
            default: if current == nil || current == side { text += line + "\n" }
            }
        }
        return Array(text.utf8)
    }
}
