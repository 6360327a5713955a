extension SealedDelta {
    /// The delta as EDN text, `#d/sealed ["base" delta "result"]`.
    public func ednText() -> String {
        "#d/sealed [\"\(base)\" \(delta.ednText()) \"\(result)\"]"
    }

    /// Reads a sealed delta from EDN text in UTF-8 bytes; nil when it is of a delta alone.
    ///
    /// - Throws: What ``Delta/init(edn:budget:)-([UInt8],_)`` throws.
    public init?(edn bytes: [UInt8], budget: ReadBudget = .standard) throws(TreeError) {
        let depthMax = Delta.encodedDepthMax + 1
        var reader = EDNReader(bytes: bytes, depthMax: depthMax, budget: budget)
        let form = try reader.readDocument()
        guard form.tags == ["d/sealed"] else { return nil }
        guard case .list(let items) = form.content, items.count == 3,
            let base = ContentDigest(hex: items[0].string),
            let result = ContentDigest(hex: items[2].string)
        else { throw form.fault("a sealed delta is [\"digest\" delta \"digest\"]") }
        self.init(base: base, try Delta(items[1]), result: result)
    }
}

extension EDNForm {
    /// The text of a string without tags; nil for anything else.
    fileprivate var string: String? {
        guard tags.isEmpty, case .string(let key) = content else { return nil }
        return key.text
    }
}
