import GodwitTree

extension Reader {
    static func checkJSON(_ bytes: [UInt8]) throws -> Bool {
        let value = try accepted(from: bytes) { () throws(TreeError) in
            try Value(json: bytes, budget: budget)
        }
        guard let value else { return false }
        try hold("JSON has no bytes", !value.holdsBytes)
        try check(value)
        return true
    }

    static func checkEDN(_ bytes: [UInt8]) throws -> Bool {
        let value = try accepted(from: bytes) { () throws(TreeError) in
            try Value(edn: bytes, budget: budget)
        }
        guard let value else { return false }
        try check(value)
        return true
    }

    static func checkCBOR(_ bytes: [UInt8]) throws -> Bool {
        let value = try accepted(from: bytes) { () throws(TreeError) in
            try Value(canonicalBytes: bytes, budget: budget)
        }
        guard let value else { return false }
        try hold("what is accepted is canonical", value.canonicalBytes == bytes)
        try check(value)
        return true
    }

    /// What holds of every value that was read.
    private static func check(_ value: Value) throws {
        try hold("what was read is not too deep", value.isNested(within: Value.depthMax))
        let copy = try Value(canonicalBytes: value.canonicalBytes)
        try hold("canonical bytes read back", copy == value)
        try hold("equal values hash alike", copy.hashValue == value.hashValue)
        try hold("EDN reads back", try Value(edn: value.ednText()) == value)
        guard !value.holdsBytes else { return }
        try hold("JSON reads back", try Value(json: value.jsonText()) == value)
        try hold(
            "indented JSON reads back",
            try Value(json: value.jsonText(indentation: 1)) == value
        )
    }

    /// Checks a value that came about by edits, which keep digests where they can.
    static func checkDigest(_ value: Value) throws {
        let copy = try Value(canonicalBytes: value.canonicalBytes)
        try hold("an edited value equals the same one, newly built", copy == value)
        try hold("and so does its digest", copy.digest == value.digest)
    }
}

extension Value {
    /// Whether there is a byte string in it, which JSON does not have.
    var holdsBytes: Bool {
        switch self {
        case .bytes: true
        case .list(let items): items.contains { $0.holdsBytes }
        case .map(let map): map.contains { $0.value.holdsBytes }
        default: false
        }
    }
}
