public import Observation

/// The objects that a full-text search finds, for a screen: the best ones first.
///
/// ```swift
/// let found = LiveSearch(notes.matching("brown bread", by: words), in: store)
/// ForEach(found.rows) { row in Text(row.snippet.text) }
/// found.query = notes.matching("bread", by: words)     // as the user types
/// ```
///
/// It follows the store until it is freed, as ``LiveQuery`` does.
@MainActor @Observable
public final class LiveSearch<Object: Codable & Sendable> {
    /// What is looked for; after a change, the rows stay until the first result of the new query.
    public var query: TextQuery<Object> { didSet { follow() } }

    private let found = LiveValue<TextRows<Object>>()
    @ObservationIgnored private let store: Store

    public init(_ query: TextQuery<Object>, in store: Store) {
        (self.query, self.store) = (query, store)
        follow()
    }

    /// The objects that are found, with their scores and snippets; those that fit best come first.
    public var rows: [TextRow<Object>] { found.value.map(Array.init) ?? [] }

    /// Whether the rows are there, and why not.
    public var phase: LivePhase { found.phase }

    /// The objects that are left out because they cannot be read, and why, by key.
    public var unreadable: [String: StoreError] { found.value?.unreadable ?? [:] }

    private func follow() {
        found.follow(store.values(of: query), store.changes(in: query.collection))
    }
}
