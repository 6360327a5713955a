import GodwitTree

extension Reader {
    static func checkJSONPatch(_ bytes: [UInt8]) throws -> Bool {
        let base = World.base
        let patch = try accepted(from: bytes) { () throws(TreeError) in
            try JSONPatch(Value(json: bytes, budget: budget), budget: budget)
        }
        guard let patch else { return false }
        try hold("a patch reads back", try JSONPatch(patch.encoded) == patch)
        _ = patch.isApplied(to: base)
        let result = Result { () throws(TreeError) in
            try patch.applied(to: base, budget: budget)
        }
        let delta = Result { () throws(TreeError) in try patch.delta(on: base, budget: budget) }
        switch (result, delta) {
        case (.success(let result), .success(let delta)):
            try hold("the delta of a patch does the same", try delta.applied(to: base) == result)
            try check(delta, on: base)
        case (.failure(let left), .failure(let right)):
            try hold("a patch fails in one way", left == right)
        default: throw BrokenLaw(description: "a patch applies when it has a delta")
        }
        return true
    }

    static func checkMergePatch(_ bytes: [UInt8]) throws -> Bool {
        let base = World.base
        let patch = try accepted(from: bytes) { () throws(TreeError) in
            try Value(json: bytes, budget: budget)
        }
        guard let patch else { return false }
        let result = try base.applying(mergePatch: patch)
        let delta = try Delta(mergePatch: patch, on: base)
        try hold("a merge patch is done once", result.applying(mergePatch: patch) == result)
        try hold("the delta of a merge patch does the same", try delta.applied(to: base) == result)
        try check(delta, on: base)
        return true
    }
}
