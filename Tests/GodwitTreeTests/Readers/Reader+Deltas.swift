import GodwitTree

extension Reader {
    static func checkDelta(_ bytes: [UInt8]) throws -> Bool {
        let base = World.base
        let stored = try? Delta(canonicalBytes: bytes, budget: budget)
        if let stored {
            try hold("what is accepted is canonical", stored.canonicalBytes == bytes)
        }
        let delta = try? Delta(packed: bytes, on: base, budget: budget)
        if let delta, bytes.first != 0xc4, bytes.first != 0xc5 {
            let size = delta.canonicalBytes.count
            try hold("a few bytes do not unfold to very many", size <= 80 * bytes.count)
        }
        for delta in [stored, delta == stored ? nil : delta] {
            if let delta { try check(delta, on: base) }
        }
        return stored != nil || delta != nil
    }

    static func checkJSONDelta(_ bytes: [UInt8]) throws -> Bool {
        let delta = try accepted(from: bytes) { () throws(TreeError) in
            let value = try Value(json: bytes, depthMax: Delta.encodedDepthMax, budget: budget)
            return try Delta(encoded: value, budget: budget)
        }
        guard let delta else { return false }
        try check(delta, on: World.base)
        return true
    }

    static func checkEDNDelta(_ bytes: [UInt8]) throws -> Bool {
        let delta = try accepted(from: bytes) { () throws(TreeError) in
            try Delta(edn: bytes, budget: budget)
        }
        guard let delta else { return false }
        try check(delta, on: World.base)
        return true
    }
}

// MARK: - Laws

extension Reader {
    /// What holds of every delta that was read, and of what it does to a base that it fits.
    static func check(_ delta: Delta, on base: Value) throws {
        try checkForms(delta)
        let twice = try? delta.composed(with: delta)
        if let twice { try checkForms(twice) }
        guard let result = try? delta.applied(to: base) else {
            try hold("what does not apply has no inverse", (try? delta.inverted(on: base)) == nil)
            return
        }
        try hold("a result is not too deep", result.isNested(within: Value.depthMax))
        try checkDigest(result)
        try checkAlgebra(delta, from: base, to: result)
        try checkPatches(delta, from: base, to: result)
        try checkSeal(delta, from: base, to: result)
        guard let last = try? delta.applied(to: result) else { return }
        try hold("a composition does both", try twice?.applied(to: base) == last)
    }

    /// Checks that a delta is read back from all that it can be written as.
    static func checkForms(_ delta: Delta) throws {
        let bytes = delta.canonicalBytes
        try hold("canonical bytes read back", try Delta(canonicalBytes: bytes) == delta)
        try hold("EDN reads back", try Delta(edn: delta.ednText()) == delta)
        let encoded = delta.encoded
        try hold("data reads back", try Delta(encoded: encoded) == delta)
        guard !encoded.holdsBytes else { return }
        let json = try Value(json: encoded.jsonText(), depthMax: Delta.encodedDepthMax)
        try hold("JSON reads back", json == encoded)
    }

    private static func checkAlgebra(_ delta: Delta, from base: Value, to result: Value) throws {
        let inverse = try delta.inverted(on: base)
        try hold("the inverse leads back", try inverse.applied(to: result) == base)
        let again = try inverse.inverted(on: result)
        try hold("the inverse has an inverse", try again.applied(to: base) == result)
        let none = try delta.composed(with: inverse)
        try hold("back and forth is no change", try none.applied(to: base) == base)

        let packed = try delta.packed(on: base, .plain)
        let unpacked = try Delta(packed: packed, on: base)
        try hold("packed bytes read back", try unpacked.applied(to: base) == result)
        let difference = Delta.diff(base, result)
        try hold("the difference leads there too", try difference.applied(to: base) == result)
    }

    private static func checkSeal(_ delta: Delta, from base: Value, to result: Value) throws {
        let sealed = try SealedDelta(delta, on: base)
        try hold("a seal reads back", try SealedDelta(encoded: sealed.encoded) == sealed)
        let edn = Array(sealed.ednText().utf8)
        try hold("a seal reads back from EDN", try SealedDelta(edn: edn) == sealed)
        try hold("a result has the change", try sealed.apply(to: result) == .alreadyApplied)
        let outcome: SealedDelta.Outcome = base == result ? .alreadyApplied : .applied(result)
        try hold("a base gets the change", try sealed.apply(to: base) == outcome)
    }

    private static func checkPatches(_ delta: Delta, from base: Value, to result: Value) throws {
        let patch = try JSONPatch(delta, on: base)
        try hold("a patch does the same", try patch.applied(to: base) == result)
        let mergePatch = Result { () throws(TreeError) in try delta.mergePatch(on: base) }
        switch mergePatch {
        case .success(let patch):
            try hold("and a merge patch", base.applying(mergePatch: patch) == result)
        case .failure(.inexpressible): break
        case .failure(let error): throw error
        }
    }
}
