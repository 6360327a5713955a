internal import GodwitTree
public import Observation

/// The objects that a query finds, for a screen: rows that change as the store does.
///
/// ```swift
/// @MainActor @Observable final class Model {
///     let online: LiveQuery<Contact>
///
///     init(_ store: Store) {
///         online = LiveQuery(contacts.where(\.isOnline, .equal(true)).order(by: \.name), in: store)
///     }
/// }
///
/// List(model.online.rows) { row in Text(row.object.name) }
/// ```
///
/// A screen that reads ``LiveRow/object`` is drawn again when that object changes, and one that reads ``rows``
/// when rows come, go or move. The store is read off the main actor, and steps that come faster than the main
/// actor takes them are taken together; a step in which rows come, go or move takes time for each row. The
/// query follows the store until it is freed: a read that fails is tried again after the next change.
@MainActor @Observable
public final class LiveQuery<Object: Codable & Sendable> {
    /// The rows, in the query's order.
    public private(set) var rows: [LiveRow<Object>] = []

    /// Whether the rows are there, and why not.
    public private(set) var phase = LivePhase.loading

    /// The objects that are left out because they cannot be read, and why, by key.
    public private(set) var unreadable: [String: StoreError] = [:]

    /// The objects that are looked for; after a change, the rows stay until the first result of the new query.
    public var query: StoreQuery<Object> { didSet { follow() } }

    @ObservationIgnored private var byKey: [Key: LiveRow<Object>] = [:]
    @ObservationIgnored private let store: Store
    @ObservationIgnored private let task = CancelledTask()

    public init(_ query: StoreQuery<Object>, in store: Store) {
        (self.query, self.store) = (query, store)
        follow()
    }

    private func follow() {
        let (query, store) = (query, store)
        task.replace(
            with: Task { [weak self] in
                var last: MarkedRows<Object>?
                let end = await followed(store.changes(in: query.collection)) {
                    for try await found in store.markedValues(of: query) {
                        let step = await QueryStep(found, after: last)
                        last = found
                        // A query that another one has replaced tells nothing any more.
                        if Task.isCancelled { return }
                        self?.take(step)
                    }
                } failed: { error in
                    self?.phase = .failed(error)
                }
                if end == .closed { self?.phase = .ended }
            }
        )
    }

    private func take(_ step: QueryStep<Object>) {
        for (key, object) in step.objects {
            if let row = byKey[key] {
                row.object = object
            } else {
                byKey[key] = LiveRow(key.text, object)
            }
        }
        if let order = step.order {
            rows = order.compactMap { byKey[$0] }
            if byKey.count > rows.count {
                byKey = Dictionary(zip(order, rows)) { first, _ in first }
            }
        }
        if unreadable != step.unreadable { unreadable = step.unreadable }
        if case .current = phase { return }
        phase = .current
    }
}

/// Why nothing more comes.
package enum FollowEnd {
    case cancelled, closed
}

/// Runs a body that follows a store; again after the next change if it fails.
///
/// - Parameter changes: The changes from now on.
@MainActor
package func followed(
    _ changes: ChangeSets,
    _ body: () async throws -> Void,
    failed: (any Error) -> Void
) async -> FollowEnd {
    var changes = changes.makeAsyncIterator()
    while true {
        do {
            try await body()
            return Task.isCancelled ? .cancelled : .closed
        } catch {
            if Task.isCancelled { return .cancelled }
            failed(error)
            guard await changes.next() != nil else {
                return Task.isCancelled ? .cancelled : .closed
            }
        }
    }
}

/// The loading state of a live query, of a live object or of an inbox.
public enum LivePhase: Sendable {
    /// The first result has not been read yet.
    case loading
    /// The result is that of the newest commit, or will be in a moment.
    case current
    /// The store could not be read; the result is the last one that could.
    case failed(any Error)
    /// The store is closed.
    case ended

    /// Whether the first result has not been read yet.
    public var isLoading: Bool { if case .loading = self { true } else { false } }

    /// Why the store could not be read; nil if it could.
    public var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }
}

/// A row of a live query.
@MainActor @Observable
public final class LiveRow<Object: Codable & Sendable>: Identifiable {
    public nonisolated let key: String
    public fileprivate(set) var object: Object

    public nonisolated var id: String { key }

    fileprivate init(_ key: String, _ object: Object) { (self.key, self.object) = (key, object) }
}

extension LiveQuery: @MainActor RandomAccessCollection {
    public var startIndex: Int { rows.startIndex }
    public var endIndex: Int { rows.endIndex }
    public subscript(position: Int) -> LiveRow<Object> { rows[position] }

    /// Goes through the rows of now, whatever changes meanwhile.
    public func makeIterator() -> IndexingIterator<[LiveRow<Object>]> { rows.makeIterator() }
}

/// What has changed from one result of a query to the next.
private struct QueryStep<Object: Codable & Sendable>: Sendable {
    /// The objects that are new, or have changed.
    let objects: [(key: Key, object: Object)]
    /// The keys in their order; nil if they are those of before.
    let order: [Key]?
    let unreadable: [String: StoreError]

    // Keys are bytes: two of them may be one text for Swift.
    @concurrent
    init(_ found: MarkedRows<Object>, after last: MarkedRows<Object>?) async {
        let (known, commits) = (last?.commits ?? [:], found.commits)
        let rows = found.rows.map { (key: Key($0.key), object: $0.object) }
        objects = rows.filter { known[$0.key] != commits[$0.key] }
        let order = rows.map(\.key)
        self.order = last?.rows.map({ Key($0.key) }) == order ? nil : order
        unreadable = found.rows.unreadable
    }
}

extension MarkedRows {
    fileprivate var commits: [Key: CommitNumber] {
        Dictionary(marks.map { (Key($0.key), $0.commit) }) { first, _ in first }
    }
}
