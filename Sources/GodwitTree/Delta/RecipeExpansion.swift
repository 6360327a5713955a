extension ListRecipe {
    /// - Complexity: O(*k* log *k*) in the number of parts.
    /// - Throws: ``TreeError/invalidDelta(reason:)`` when the parts contradict each other.
    init(_ parts: ListDelta.Parts) throws(TreeError) {
        try parts.check()
        var expansion = RecipeExpansion(parts)
        self = expansion.recipe()
    }
}

extension ListDelta.Parts {
    /// The ranges that leave their place in the base, ascending.
    fileprivate var gone: [Range<Int>] {
        (removes + moves.map(\.sources)).sorted { $0.lowerBound < $1.lowerBound }
    }

    fileprivate func check() throws(TreeError) {
        guard isInRange else { throw .invalidDelta(reason: "a position is out of range") }
        let inserted = inserts.map { $0.position..<($0.position + 1) }
        let arriving = (inserted + moves.map(\.targets)).sorted { $0.lowerBound < $1.lowerBound }
        let edited = edits.map { $0.position..<($0.position + 1) }
        for ranges in [gone, arriving, edited] {
            guard zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound })
            else { throw .invalidDelta(reason: "two parts claim one position of a list") }
        }
        let claimed = (removes + edited).sorted { $0.lowerBound < $1.lowerBound }
        guard zip(claimed, claimed.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound })
        else { throw .invalidDelta(reason: "an item is both removed and edited") }
    }

    private var isInRange: Bool {
        let valid = 0...ListDelta.positionMax
        func isValid(_ position: Int, _ count: Int = 1) -> Bool {
            valid.contains(position) && valid.contains(count) && valid.contains(position + count)
        }
        return removes.allSatisfy { valid.contains($0.lowerBound) && valid.contains($0.upperBound) }
            && moves.allSatisfy { isValid($0.source, $0.count) && isValid($0.target, $0.count) }
            && inserts.allSatisfy { isValid($0.position) }
            && edits.allSatisfy { isValid($0.position) }
    }
}

/// The walk along base and result that turns parts into their recipe.
private struct RecipeExpansion {
    private enum Arrival {
        case moved(Range<Int>)
        case new(Value)
    }

    private var gone: ArraySlice<Range<Int>>
    /// Ascending, for what stays in place; moved items look theirs up.
    private let edits: [ListDelta.Edit]
    private let arrivals: [(position: Int, arrival: Arrival)]
    private let touched: Int
    private var base = 0
    private var result = ListRecipe()

    init(_ parts: ListDelta.Parts) {
        gone = parts.gone[...]
        edits = parts.edits
        touched = max(gone.last?.upperBound ?? 0, (edits.last?.position ?? -1) + 1)
        let moved = parts.moves.map { ($0.target, Arrival.moved($0.sources)) }
        let inserted = parts.inserts.map { ($0.position, Arrival.new($0.value)) }
        arrivals = (moved + inserted).sorted { $0.0 < $1.0 }
    }

    mutating func recipe() -> ListRecipe {
        var position = 0
        for (place, arrival) in arrivals {
            takeStationary(place - position, below: .max)
            switch arrival {
            case .moved(let source):
                take(source)
                position = place + source.count
            case .new(let value):
                result.append(.new(value))
                position = place + 1
            }
        }
        takeStationary(.max, below: touched)
        result.finish(tail: max(base, touched))
        return result
    }

    /// Takes the next `count` base items that stay in place, but none from `limit` on.
    private mutating func takeStationary(_ count: Int, below limit: Int) {
        var left = count
        while left > 0, base < limit {
            if let next = gone.first, next.lowerBound == base {
                base = next.upperBound
                gone.removeFirst()
                continue
            }
            let end = min(
                gone.first?.lowerBound ?? .max,
                limit,
                left > .max - base ? .max : base + left
            )
            take(base..<end)
            left -= end - base
            base = end
        }
    }

    /// Takes base items next to each other, with the edits of them.
    private mutating func take(_ range: Range<Int>) {
        var next = range.lowerBound
        for edit in edits[firstEdit(from: next)...] {
            guard edit.position < range.upperBound else { break }
            result.append(.kept(next..<edit.position))
            result.append(.edited(edit.position, edit.delta))
            next = edit.position + 1
        }
        result.append(.kept(next..<range.upperBound))
    }

    private func firstEdit(from position: Int) -> Int {
        edits.partitioningIndex { $0.position >= position }
    }
}
