internal import GodwitTree

/// What belongs to a list, and in which order.
struct ListRules<Object: Codable & Sendable, Group, Rank>: Sendable {
    let collection: StoreCollection<Object>
    let isIncluded: @Sendable (Object) -> Bool
    let group: @Sendable (Object) -> Group
    let rank: @Sendable (Object) -> Rank
}

/// The rows of a list at one commit: a value that a step of its view turns into the next.
///
/// Invariants:
/// 1. `sorted` has exactly the rows of `byKey`.
/// 2. `counts` has, for each section with rows, their number; `sections` has these in order.
struct ListRows<Object, Group, Rank>: Sendable
where
    Object: Codable & Sendable,
    Group: Comparable & Hashable & Sendable,
    Rank: Comparable & Sendable
{
    typealias Rules = ListRules<Object, Group, Rank>

    private struct Row: Comparable, Sendable {
        let group: Group
        let rank: Rank
        let key: Key

        static func < (left: Row, right: Row) -> Bool {
            if left.group != right.group { return left.group < right.group }
            if left.rank != right.rank { return left.rank < right.rank }
            return left.key < right.key
        }
    }

    private var sorted: SortedRows<Row>
    private var byKey: [Key: Row]
    private var counts: [Group: Int]
    private(set) var sections: [Group]
    /// The objects that could not be decoded.
    private(set) var unreadable: [String: StoreError]

    /// Reads the whole collection.
    ///
    /// - Complexity: O(*n* log *n*).
    init(_ rules: Rules, _ objects: ViewObjects) throws {
        var (byKey, unreadable) = ([Key: Row](), [String: StoreError]())
        let collection = rules.collection
        try objects.forEachObject(of: collection.name, KeyWalk()) { key, stored in
            do throws(StoreError) {
                let object = try stored.object(at: collection.place(key), in: collection)
                byKey[Key(key)] = Self.row(object, Key(key), rules)
            } catch {
                unreadable[key] = error
            }
            return true
        }
        self.byKey = byKey
        self.unreadable = unreadable
        sorted = SortedRows(byKey.values)
        counts = byKey.values.reduce(into: [:]) { $0[$1.group, default: 0] += 1 }
        sections = counts.keys.sorted()
    }

    /// Reads the whole collection, away from the caller's actor.
    @concurrent
    static func build(_ rules: Rules, _ objects: ViewObjects) async throws -> ListRows {
        try ListRows(rules, objects)
    }

    private static func row(_ object: Object?, _ key: Key, _ rules: Rules) -> Row? {
        guard let object, rules.isIncluded(object) else { return nil }
        return Row(group: rules.group(object), rank: rules.rank(object), key: key)
    }
}

extension ListRows {
    var count: Int { sorted.count }

    func count(inSection section: Int) -> Int { counts[sections[section]] ?? 0 }

    func key(at row: Int) -> String { sorted[row].key.text }

    func key(at position: RowPosition) -> String {
        let start = sections[..<position.section].reduce(0) { $0 + (counts[$1] ?? 0) }
        return key(at: start + position.row)
    }

    func position(of key: String) -> RowPosition? { byKey[Key(key)].map(position) }

    private func position(of row: Row) -> RowPosition {
        var (place, section) = (sorted.rank(of: row), 0)
        while sections[section] != row.group {
            place -= counts[sections[section]] ?? 0
            section += 1
        }
        return RowPosition(section: section, row: place)
    }
}

extension ListRows {
    private struct Step {
        let old: Row?
        let new: Row?
        var from: RowPosition?
        var to: RowPosition?
    }

    /// Takes in what has changed.
    ///
    /// - Complexity: O(*k* √*n*) for *k* changed objects.
    mutating func advance(
        _ changes: ChangeSet,
        _ rules: Rules,
        _ objects: ViewObjects
    ) throws -> ListChange {
        let collection = rules.collection
        var steps: [Step] = []
        var read: [Key: Result<Object?, StoreError>] = [:]
        for place in changes.keys where place.collection == collection.name {
            let stored = try objects.object(at: place)
            read[place.key] = Result { () throws(StoreError) in
                try stored?.object(at: place, in: collection)
            }
        }
        for (key, result) in read {
            unreadable[key.text] = result.failure
            let (old, new) = (byKey[key], Self.row((try? result.get()) ?? nil, key, rules))
            guard old != nil || new != nil else { continue }
            steps.append(Step(old: old, new: new, from: old.map(position)))
        }
        let before = sections
        for step in steps { if let old = step.old { remove(old) } }
        for step in steps { if let new = step.new { insert(new) } }
        sections = counts.keys.sorted()
        for index in steps.indices { steps[index].to = steps[index].new.map(position) }
        return Self.change(steps, before: before, after: sections)
    }

    private mutating func remove(_ row: Row) {
        sorted.remove(row)
        byKey[row.key] = nil
        let count = (counts[row.group] ?? 0) - 1
        counts[row.group] = count == 0 ? nil : count
    }

    private mutating func insert(_ row: Row) {
        sorted.insert(row)
        byKey[row.key] = row
        counts[row.group, default: 0] += 1
    }

    private static func change(_ steps: [Step], before: [Group], after: [Group]) -> ListChange {
        var change = ListChange()
        let (was, now) = (Set(before), Set(after))
        change.removedSections = before.indices.reversed().filter { !now.contains(before[$0]) }
        change.insertedSections = after.indices.filter { !was.contains(after[$0]) }
        for step in steps {
            let from = step.from.flatMap { now.contains(before[$0.section]) ? $0 : nil }
            let to = step.to.flatMap { was.contains(after[$0.section]) ? $0 : nil }
            switch (from, to) {
            case (let from?, let to?):
                if step.old == step.new {
                    change.updated.append(to)
                } else {
                    change.moved.append(ListChange.Move(from: from, to: to))
                }
            case (let from?, nil): change.removed.append(from)
            case (nil, let to?): change.inserted.append(to)
            case (nil, nil): break
            }
        }
        change.removed.sort(by: >)
        change.inserted.sort()
        change.updated.sort()
        change.moved.sort { $0.from < $1.from }
        return change
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
