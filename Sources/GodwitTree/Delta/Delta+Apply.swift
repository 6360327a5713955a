extension Delta {
    /// The value that this delta leads to from `base`.
    ///
    /// - Throws: ``TreeError/wrongBase(path:reason:)`` when `base` has another shape than the
    ///   delta was made for, ``TreeError/tooDeep(limit:)`` when the result would nest too deep.
    public func applied(to base: Value) throws(TreeError) -> Value {
        try applied(to: base, at: Path())
    }

    func applied(to base: Value, at path: Path) throws(TreeError) -> Value {
        switch self {
        case .keep:
            return base
        case .set(let value):
            guard value.isNested(within: Value.depthMax - path.steps.count) else {
                throw .tooDeep(limit: Value.depthMax)
            }
            return value
        case .map(let delta):
            guard case .map(let map) = base else { throw .unlike(base, "a map", at: path) }
            return .map(try delta.applied(to: map, at: path))
        case .list(let delta):
            guard case .list(let items) = base else { throw .unlike(base, "a list", at: path) }
            return .list(try delta.applied(to: Array(items), at: path))
        }
    }
}

extension TreeError {
    fileprivate static func unlike(_ value: Value, _ expected: String, at path: Path) -> TreeError {
        .wrongBase(path: path, reason: "there is a \(value.kind) in the place of \(expected)")
    }
}

extension MapDelta {
    /// One walk along the old entries and the changes, both in canonical order.
    fileprivate func applied(to base: Value.Map, at path: Path) throws(TreeError) -> Value.Map {
        var result: [Value.Map.Entry] = []
        result.reserveCapacity(base.count + changes.count)
        var rest = Array(base)[...]
        for entry in canonical {
            let end = rest.firstIndexOfKey(notBefore: entry.key)
            result += rest[..<end]
            rest = rest[end...]
            let old = rest.first?.key == entry.key ? rest.popFirst()?.value : nil
            guard case .apply(let delta) = entry.change else { continue }
            let step = path.appending(.key(entry.key))
            guard old != nil || delta.isSet else {
                throw .wrongBase(path: step, reason: "there is nothing to change")
            }
            let value = try delta.applied(to: old ?? .null, at: step)
            result.append(Value.Map.Entry(key: entry.key, value: value))
        }
        return Value.Map(ascending: result + rest)
    }
}

extension ArraySlice<Value.Map.Entry> {
    /// Where a key is, or would be.
    fileprivate func firstIndexOfKey(notBefore key: Key) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension ListDelta {
    fileprivate func applied(to base: [Value], at path: Path) throws(TreeError) -> [Value] {
        try check(count: base.count, at: path)
        let recipe = self.recipe
        var result: [Value] = []
        result.reserveCapacity(base.count + growth)
        for run in recipe.runs {
            switch run {
            case .kept(let range):
                result += base[range]
            case .edited(let position, let delta):
                let step = path.appending(.position(position))
                result.append(try delta.applied(to: base[position], at: step))
            case .new(let value):
                let step = path.appending(.position(result.count))
                result.append(try Delta.set(value).applied(to: .null, at: step))
            }
        }
        result += base[recipe.tail...]
        return result
    }
}

extension Delta {
    fileprivate var isSet: Bool {
        if case .set = self { true } else { false }
    }
}
