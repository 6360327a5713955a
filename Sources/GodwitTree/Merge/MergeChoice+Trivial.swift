extension MergeChoice {
    /// Whether the other side's wish may be dropped without a report: both raised a version, or
    /// wrote the same words.
    var isTrivial: Bool {
        guard let ours = versions.sides.ours, let theirs = versions.sides.theirs else {
            return false
        }
        if reason == .bothSet || reason == .replacedAndEdited, vote?.isVersion == true,
            let base = versions.base
        {
            return Self.isRaised(from: base, to: ours) && Self.isRaised(from: base, to: theirs)
                && Vote.haveOneKind(ours, theirs)
        }
        guard let our = ours.bareText, let their = theirs.bareText else { return false }
        return our == their && !areOtherWords(ours, theirs)
    }

    /// Whether each side has written a word in another way that the other one left as it was.
    private func areOtherWords(_ ours: Value, _ theirs: Value) -> Bool {
        guard let base = versions.base?.words, let our = ours.words, let their = theirs.words,
            base.count == our.count, base.count == their.count
        else { return false }
        let changes = Sides(
            ours: base.indices.contains { base[$0] != our[$0] && base[$0] == their[$0] },
            theirs: base.indices.contains { base[$0] != their[$0] && base[$0] == our[$0] }
        )
        return changes.ours && changes.theirs
    }

    private static func isRaised(from old: Value, to new: Value) -> Bool {
        Vote.isVersion(old) && Vote.isVersion(new) && Vote(ours: old, theirs: new)?.side == .theirs
    }
}

extension Value {
    /// The words of a text, without signs.
    fileprivate var words: [String]? {
        text?.split { $0 == " " || $0 == "\n" }.map { $0.filter(\.isLetter) }
    }

    /// The letters of prose, in lower case; nil where there are none, and for other texts: in
    /// a path or in code, case and signs matter, and so does a point that ends no word.
    fileprivate var bareText: [UInt8]? {
        guard let text, text.utf8.contains(UInt8(ascii: " ")) else { return nil }
        let bytes = Array(text.utf8)
        var bare: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bare.append(byte | 0x20)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: bare.append(byte)
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "'"), UInt8(ascii: "\""): break
            case UInt8(ascii: "-"), UInt8(ascii: "/"):
                guard Self.joinsWords(bytes, index) else { return nil }
                if byte == UInt8(ascii: "/") { bare.append(byte) }
            case _ where Self.endsClause.contains(byte):
                let follows = index + 1 < bytes.count ? bytes[index + 1] : UInt8(ascii: " ")
                guard Self.followsClause.contains(follows) else { return nil }
            default: return nil
            }
        }
        return bare.isEmpty ? nil : bare
    }

    private static func joinsWords(_ bytes: [UInt8], _ index: Int) -> Bool {
        let isLetter = { (byte: UInt8) in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
        }
        return index > 0 && index + 1 < bytes.count && isLetter(bytes[index - 1])
            && isLetter(bytes[index + 1])
    }

    private static let endsClause = Set(".,;:!?".utf8)
    private static let followsClause = Set(" \n'\"".utf8).union(endsClause)
}
