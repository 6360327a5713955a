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
/// List(model.online) { row in Text(row.object.name) }
/// ```
///
/// The query is a collection of its rows. A screen that reads ``LiveRow/object`` is drawn again when that
/// object changes, and one that reads the collection when rows come, go or move. The store is read off the
/// main actor, and steps that come faster than the main actor takes them are taken together. The query
/// follows the store until it is freed.
@MainActor @Observable
public final class LiveQuery<Object: Codable & Sendable> {
    /// What stands in the way of the rows.
    public private(set) var phase = LivePhase.loading

    /// The objects that are left out because they cannot be read, and why, by key.
    public private(set) var unreadable: [String: StoreError] = [:]

    /// What is looked for; another query begins anew, and the rows stay until its first result.
    public var query: Query<Object> { didSet { follow() } }

    private var rows: [LiveRow<Object>] = []
    @ObservationIgnored private var byKey: [String: LiveRow<Object>] = [:]
    @ObservationIgnored private let store: Store
    @ObservationIgnored private let task = CancelledTask()

    public init(_ query: Query<Object>, in store: Store) {
        (self.query, self.store) = (query, store)
        follow()
    }

    private func follow() {
        let (query, store) = (query, store)
        task.replace(
            with: Task { [weak self] in
                do {
                    var last: MarkedRows<Object>?
                    for try await found in store.markedValues(of: query) {
                        let step = await QueryStep(found, after: last)
                        last = found
                        // A query that has been replaced meanwhile tells nothing any more.
                        if Task.isCancelled { return }
                        self?.take(step)
                    }
                    self?.phase = .ended
                } catch {
                    if !Task.isCancelled { self?.phase = .failed(error) }
                }
            }
        )
    }

    private func take(_ step: QueryStep<Object>) {
        for (key, object) in step.objects {
            if let row = byKey[key] {
                row.object = object
            } else {
                byKey[key] = LiveRow(key, object)
            }
        }
        if let order = step.order {
            rows = order.compactMap { byKey[$0] }
            if byKey.count > rows.count {
                byKey = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
            }
        }
        if unreadable != step.unreadable { unreadable = step.unreadable }
        if case .current = phase { return }
        phase = .current
    }
}

/// How far a live query, or a live object, is.
public enum LivePhase: Sendable {
    /// The first result has not been read yet.
    case loading
    /// The result is that of the newest commit, or will be in a moment.
    case current
    /// The store could not be read; the result is the last one that could.
    case failed(any Error)
    /// The store is closed.
    case ended
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
}

/// What has changed from one result of a query to the next.
private struct QueryStep<Object: Codable & Sendable>: Sendable {
    /// The objects that are new, or have changed.
    let objects: [(key: String, object: Object)]
    /// The keys in their order; nil if they are those of before.
    let order: [String]?
    let unreadable: [String: StoreError]

    @concurrent
    init(_ found: MarkedRows<Object>, after last: MarkedRows<Object>?) async {
        let known = Dictionary((last?.marks ?? []).map { ($0.key, $0.commit) }) { first, _ in first
        }
        let commits = Dictionary(found.marks.map { ($0.key, $0.commit) }) { first, _ in first }
        objects = found.rows.lazy.filter { known[$0.key] != commits[$0.key] }
            .map { ($0.key, $0.object) }
        let isSame = last.map { $0.rows.lazy.map(\.key).elementsEqual(found.rows.lazy.map(\.key)) }
        order = isSame == true ? nil : found.rows.map(\.key)
        unreadable = found.rows.unreadable
    }
}
