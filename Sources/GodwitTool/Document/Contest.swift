import GodwitTree

/// A conflict with its place in the merged value, so that each side's wish can be put there.
struct Contest {
    enum Side: CaseIterable {
        case ours, base, theirs
    }

    /// The way to the place in the merged value.
    let steps: [ValuePath.Step]
    /// Whether the merged list has no item there: the last step is where it would be inserted.
    let isGap: Bool
    private let wishes: [Side: Value]

    init(_ spot: Spot, _ conflict: Conflict) {
        (steps, isGap) = (spot.steps, spot.isGap)
        let wishes = [Side.base: conflict.base, .ours: conflict.ours, .theirs: conflict.theirs]
        self.wishes = wishes.compactMapValues { $0 }
    }

    init(_ spot: Spot, _ wishes: [Side: Value]) {
        (steps, isGap, self.wishes) = (spot.steps, spot.isGap, wishes)
    }

    /// What a side has there; nil when it has nothing.
    func wish(_ side: Side) -> Value? { wishes[side] }

    /// What neither side has there: a text that names both wishes; nil where a side has no scalar.
    var undecided: Value? {
        guard !isGap, let ours = wish(.ours), let theirs = wish(.theirs), !ours.isContainer,
            !theirs.isContainer, wish(.base)?.isContainer != true
        else { return nil }
        return .string(Key("<<<<<<< \(ours.ednText()) ======= \(theirs.ednText()) >>>>>>>"))
    }
}

/// Where a place of one value is in the value that it became.
struct Spot {
    var steps: [ValuePath.Step] = []
    var isGap = false

    /// Whether one way comes before another in lists; the order of keys means nothing.
    static func isBefore(_ left: [ValuePath.Step], _ right: [ValuePath.Step]) -> Bool {
        for (left, right) in zip(left, right) where left != right {
            switch (left, right) {
            case (.position(let left), .position(let right)): return left < right
            case (.key(let left), .key(let right)): return left < right
            case (.key, .position): return true
            case (.position, .key): return false
            }
        }
        return left.count < right.count
    }
}

extension Value {
    var isContainer: Bool { list != nil || map != nil }

    /// The part at the end of a way; nil when the way leaves the value.
    func part(at steps: [ValuePath.Step]) -> Value? {
        steps.reduce(self) { value, step in
            switch step {
            case .key(let key): value?[key]
            case .position(let position):
                value?.list.flatMap { $0.indices.contains(position) ? $0[position] : nil }
            }
        }
    }

    /// Calls `body` for this value and all in it.
    func walk(_ steps: [ValuePath.Step] = [], _ body: (Value, [ValuePath.Step]) -> Void) {
        body(self, steps)
        switch self {
        case .map(let map): for entry in map { entry.value.walk(steps + [.key(entry.key)], body) }
        case .list(let items):
            for (position, item) in items.enumerated() {
                item.walk(steps + [.position(position)], body)
            }
        default: break
        }
    }

    /// This value with another one, or none, at the place of a contest.
    func replacing(_ contest: Contest, with part: Value?) -> Value {
        replacing(contest.steps[...], isGap: contest.isGap, with: part) ?? .null
    }

    private func replacing(
        _ steps: ArraySlice<ValuePath.Step>,
        isGap: Bool,
        with part: Value?
    ) -> Value? {
        guard let step = steps.first else { return part }
        let rest = steps.dropFirst()
        switch (step, self) {
        case (.key(let key), .map(var map)):
            guard let old = map[key] ?? (rest.isEmpty ? .null : nil) else { return self }
            map[key] = old.replacing(rest, isGap: isGap, with: part)
            return .map(map)
        case (.position(let position), .list(var list)):
            if isGap, rest.isEmpty {
                if let part { list.insert(part, at: min(position, list.count)) }
                return .list(list)
            }
            guard list.indices.contains(position) else { return self }
            if let new = list[position].replacing(rest, isGap: isGap, with: part) {
                list[position] = new
            } else {
                list.remove(at: position)
            }
            return .list(list)
        default: return self
        }
    }
}
