/// A person who resolves conflicts.
enum MarkedChoice {
    /// What a person keeps of a marked text.
    static func choose(_ side: String, from bytes: [UInt8]) -> [UInt8] {
        choose({ _ in side }, from: bytes)
    }

    /// What a person keeps who chooses another side for each conflict, counted from 0.
    static func choose(_ side: (Int) -> String, from bytes: [UInt8]) -> [UInt8] {
        var (current, count): (String?, Int) = (nil, -1)
        var text = ""
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            switch line {
            case "<<<<<<< ours": (current, count) = ("ours", count + 1)
            case "||||||| base": current = "base"
            case "=======": current = "theirs"
            case ">>>>>>> theirs": current = nil
            default: if current == nil || current == side(count) { text += line + "\n" }
            }
        }
        return Array(text.utf8)
    }
}
