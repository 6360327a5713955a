internal import GodwitTree
public import Observation

/// The objects of a collection in sections and in order, as a view shows them.
///
/// The list follows its view: ``ReadView/advance()`` brings it to the new commit, and
/// ``change`` says how it got there. Rows are keys; the objects come from the view, which has
/// those that are on the screen in its cache.
@Observable
public final class LiveList<Object, Group, Rank>
where
    Object: Codable & Sendable,
    Group: Comparable & Hashable & Sendable,
    Rank: Comparable & Sendable
{
    /// What the last step of the view has changed here.
    public private(set) var change = ListChange()

    /// The objects that the list leaves out because they cannot be decoded, by key.
    public var unreadable: [String: StoreError] { observed.unreadable }

    // Not observed one by one: `change` is set in every step that changes something.
    @ObservationIgnored private var rows: ListRows<Object, Group, Rank>
    @ObservationIgnored private let rules: ListRules<Object, Group, Rank>
    /// Whether a step could not be read: the next one reads everything.
    @ObservationIgnored private var isStale = false

    init(_ rules: ListRules<Object, Group, Rank>, _ rows: ListRows<Object, Group, Rank>) {
        self.rules = rules
        self.rows = rows
    }
}

extension LiveList {
    /// How many rows there are in all sections.
    public var count: Int { observed.count }

    /// The sections that have rows, in order.
    public var sections: [Group] { observed.sections }

    /// How many rows a section has.
    public func count(inSection section: Int) -> Int { observed.count(inSection: section) }

    /// The key of a row.
    ///
    /// - Complexity: O(√*n*).
    public func key(at position: RowPosition) -> String { observed.key(at: position) }

    /// The key of a row, counted through all sections.
    public func key(at row: Int) -> String { observed.key(at: row) }

    /// All keys in order; a small part of them costs no more than that part.
    public func keys(_ range: Range<Int>? = nil) -> [String] {
        let rows = observed
        return (range ?? 0..<rows.count).map { rows.key(at: $0) }
    }

    /// Where an object's row is, or nil when the list does not have it.
    public func position(of key: String) -> RowPosition? { observed.position(of: key) }

    private var observed: ListRows<Object, Group, Rank> {
        access(keyPath: \.change)
        return rows
    }
}

/// The section of a list that has none.
public struct Ungrouped: Hashable, Comparable, Sendable {
    public static func < (left: Ungrouped, right: Ungrouped) -> Bool { false }
}

/// Turns an order around: `sorted: { Descending($0.date) }`.
public struct Descending<Rank: Comparable & Sendable>: Comparable, Sendable {
    public let rank: Rank

    public init(_ rank: Rank) { self.rank = rank }

    public static func < (left: Descending, right: Descending) -> Bool { right.rank < left.rank }
}

/// A list as its view sees it, whatever it is a list of.
protocol AdvancingList: AnyObject {
    var decoder: ObjectDecoder { get }
    func advance(_ changes: ChangeSet, _ objects: ViewObjects) throws
}

/// Decodes objects of a collection ahead of time.
struct ObjectDecoder: Sendable {
    let collection: Key
    let decode: @Sendable (StoredObject, ObjectKey) -> Void
}

extension LiveList: AdvancingList {
    var decoder: ObjectDecoder {
        let collection = rules.collection
        return ObjectDecoder(collection: collection.name) { stored, key in
            // The code that reads a row reports one that cannot be decoded.
            _ = try? stored.object(at: key, in: collection)
        }
    }

    func advance(_ changes: ChangeSet, _ objects: ViewObjects) throws {
        if changes.isReset || isStale {
            change = .reset
            isStale = true
            rows = try ListRows(rules, objects)
            isStale = false
            return
        }
        do {
            let step = try rows.advance(changes, rules, objects)
            if !step.isEmpty || !change.isEmpty { change = step }
        } catch {
            change = .reset
            isStale = true
            throw error
        }
    }
}
