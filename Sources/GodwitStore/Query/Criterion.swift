internal import GodwitTree

/// Which objects a query finds, by their fields.
indirect enum Criterion: Hashable, Sendable {
    /// The field's value is in one of the ranges.
    case field(Field, [IndexedRange])
    case all([Criterion])
    case any([Criterion])
    case not(Criterion)

    static let everything = Criterion.all([])

    /// One criterion that is met if both are: flat, so that thousands may be combined.
    func and(_ other: Criterion) -> Criterion {
        if self == .everything { return other }
        if case .all(let criteria) = self { return .all(criteria + [other]) }
        return .all([self, other])
    }

    /// One criterion that is met if one of both is.
    func or(_ other: Criterion) -> Criterion {
        if case .any(let criteria) = self { return .any(criteria + [other]) }
        return .any([self, other])
    }

    func isMet(by value: (Field) -> IndexedValue) -> Bool {
        switch self {
        case .field(let field, let ranges):
            let value = value(field)
            return ranges.contains { $0.contains(value) }
        case .all(let criteria): return criteria.allSatisfy { $0.isMet(by: value) }
        case .any(let criteria): return criteria.contains { $0.isMet(by: value) }
        case .not(let criterion): return !criterion.isMet(by: value)
        }
    }
}

extension Criterion {
    /// The most terms that an index is asked for.
    private static let termsMax = 1_024

    /// Fields with one range each, all of which an object has to meet.
    struct Term: Hashable, Sendable {
        var ranges: [Field: IndexedRange] = [:]
        /// Whether there are criteria that no range tells.
        var isWider = false

        fileprivate func and(_ other: Term) -> Term {
            let both = ranges.merging(other.ranges) { $0.intersection($1) }
            return Term(ranges: both, isWider: isWider || other.isWider)
        }
    }

    /// Terms of which an object that meets the criterion meets one; nil if there are too many.
    var terms: [Term]? {
        switch self {
        case .field(let field, let ranges):
            return ranges.count <= Self.termsMax ? ranges.map { Term(ranges: [field: $0]) } : nil
        case .not: return [Term(isWider: true)]
        case .any(let criteria):
            var terms: [Term] = []
            for criterion in criteria {
                guard let more = criterion.terms else { return nil }
                terms += more
                if terms.count > Self.termsMax { return nil }
            }
            return terms
        case .all(let criteria):
            return criteria.reduce([Term()]) { terms, criterion in
                guard let terms, let more = criterion.terms,
                    terms.count * more.count <= Self.termsMax
                else { return nil }
                return terms.flatMap { term in more.map(term.and) }
            }
        }
    }
}
