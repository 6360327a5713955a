extension Delta {
    /// The delta that leads back to `base` from where this one leads.
    ///
    /// - Throws: What ``applied(to:)`` throws for this base.
    public func inverted(on base: Value) throws(TreeError) -> Delta {
        _ = try applied(to: base)
        return inverse(on: base)
    }

    /// The inverse, once it is known that the delta fits its base.
    private func inverse(on base: Value) -> Delta {
        switch (self, base) {
        case (.keep, _): .keep
        case (.set(let value), _): value == base ? .keep : .set(base)
        case (.map(let delta), .map(let map)): .map(delta.inverse(on: map))
        case (.list(let delta), .list(let items)):
            .list(delta.recipe.inverse(on: Array(items)) { $0.inverse(on: $1) })
        case (.map, _), (.list, _): preconditionFailure("A delta that was applied fits its base")
        }
    }
}

extension MapDelta {
    fileprivate func inverse(on base: Value.Map) -> [Key: Change] {
        var result: [Key: Change] = [:]
        for (key, change) in changes {
            switch (base[key], change) {
            case (nil, .remove): break
            case (nil, .apply): result[key] = .remove
            case (let old?, .remove): result[key] = .apply(.set(old))
            case (let old?, .apply(let delta)): result[key] = .apply(Delta.undo(delta, on: old))
            }
        }
        return result
    }
}

extension Delta {
    fileprivate static func undo(_ delta: Delta, on base: Value) -> Delta {
        delta.inverse(on: base)
    }
}

extension ListRecipe {
    fileprivate func inverse(
        on base: [Value],
        undo: (Delta, Value) -> Delta
    ) -> ListRecipe {
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
                let back = undo(place.delta, base[place.base.lowerBound])
                result.append(.edited(place.position, back))
            }
        }
        for removed in base[next..<tail] { result.append(.new(removed)) }
        result.finish(tail: position)
        return result
    }
}
