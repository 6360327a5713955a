extension Delta {
    /// The delta that leads back to `base` from where this one leads.
    ///
    /// - Throws: What ``applied(to:)`` throws for this base.
    public func inverted(on base: Value) throws(TreeError) -> Delta {
        _ = try applied(to: base)
        return try inverse(on: base)
    }

    /// The inverse, once it is known that the delta fits its base.
    fileprivate func inverse(on base: Value) throws(TreeError) -> Delta {
        switch (self, base) {
        case (.keep, _): return .keep
        case (.set(let value), _): return value == base ? .keep : .set(base)
        case (.map(let delta), .map(let map)): return .map(try delta.inverse(on: map))
        case (.list(let delta), .list(let items)): return .list(try delta.recipe.inverse(on: items))
        case (.text(let delta), .string(let text)): return .text(try delta.inverted(on: text))
        case (.increment(let number), _): return .increment(0 &- number)
        case (.map, _), (.list, _), (.text, _):
            preconditionFailure("A delta that was applied fits its base")
        }
    }
}

extension MapDelta {
    fileprivate func inverse(on base: Value.Map) throws(TreeError) -> [Entry] {
        var result: [Entry] = []
        for entry in entries {
            let change: Change
            switch (base[entry.key], entry.change) {
            case (nil, .remove): continue
            case (nil, .apply): change = .remove
            case (let old?, .remove): change = .apply(.set(old))
            case (let old?, .apply(let delta)): change = .apply(try delta.inverse(on: old))
            }
            result.append(Entry(key: entry.key, change: change))
        }
        return result
    }
}

extension ListRecipe {
    fileprivate func inverse(on base: Value.List) throws(TreeError) -> ListRecipe {
        var places: [(base: Range<Int>, position: Int, delta: Delta)] = []
        var position = 0
        for run in runs {
            switch run {
            case .kept(let range): places.append((range, position, .keep))
            case .edited(let base, let delta): places.append((base..<(base + 1), position, delta))
            case .new: break
            }
            position += run.count
        }
        places.sort { $0.base.lowerBound < $1.base.lowerBound }

        var result = ListRecipe()
        var next = 0
        for place in places {
            for removed in base[next..<place.base.lowerBound] { result.append(.new(removed)) }
            next = place.base.upperBound
            if place.delta == .keep {
                result.append(.kept(place.position..<(place.position + place.base.count)))
            } else {
                let back = try place.delta.inverse(on: base[place.base.lowerBound])
                result.append(.edited(place.position, back))
            }
        }
        for removed in base[next..<tail] { result.append(.new(removed)) }
        result.finish(tail: position)
        return result
    }
}
