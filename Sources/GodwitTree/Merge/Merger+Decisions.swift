extension Merger {
    /// Decides between two values of one place.
    mutating func settle(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?,
        _ choice: Conflict.Choice,
        _ place: Place
    ) -> Merged {
        if let decided = decide(reason, base, ours, theirs, place) {
            return Self.settled(decided, base, ours, theirs)
        }
        report(reason, base, ours, theirs, choice, place)
        return Self.settled((choice == .ours ? ours : theirs) ?? .null, base, ours, theirs)
    }

    static func settled(
        _ value: Value,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?
    ) -> Merged {
        func delta(from old: Value?) -> Delta { old == value ? .keep : .set(value) }
        return Merged(
            delta(from: base),
            afterOurs: delta(from: ours),
            afterTheirs: delta(from: theirs)
        )
    }

    /// Which of two scalars is the later one: theirs, but for versions and dates.
    func later(_ ours: Value, _ theirs: Value) -> Conflict.Choice {
        guard let our = Succession(ours), let their = Succession(theirs),
            their.isBefore(our) == true
        else { return .theirs }
        return .ours
    }

    /// What a rule makes of two values; nil where the default holds.
    func decide(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?,
        _ place: Place
    ) -> Value? {
        guard let ours, let theirs, let rule = place.rules?.rule else { return nil }
        switch rule {
        case .ours: return ours
        case .theirs: return theirs
        case .max: return ours.isLess(than: theirs).map { $0 ? theirs : ours }
        case .min: return ours.isLess(than: theirs).map { $0 ? ours : theirs }
        case .sum:
            guard let our = ours.integer, let their = theirs.integer else { return nil }
            return .int(our &+ their &- (base?.integer ?? 0))
        case .custom(let decide):
            return decide(
                Conflict(
                    path: place.path,
                    reason: reason,
                    base: base,
                    ours: ours,
                    theirs: theirs,
                    choice: .theirs
                )
            )
        case .editWins, .deleteWins, .union: return nil
        }
    }

    mutating func report(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ ours: Value?,
        _ theirs: Value?,
        _ choice: Conflict.Choice,
        _ place: Place
    ) {
        conflicts.append(
            Conflict(
                path: place.path,
                reason: reason,
                base: base,
                ours: ours,
                theirs: theirs,
                choice: choice
            )
        )
    }
}

extension Value {
    /// Whether this is the smaller of two numbers or strings; nil when they cannot be compared.
    fileprivate func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left.double < right.double
        case (.int(let left), .double(let right)): Double(left) < right.double
        case (.double(let left), .int(let right)): left.double < Double(right)
        case (.string(let left), .string(let right)): Key.isBefore(left, right)
        default: nil
        }
    }
}
