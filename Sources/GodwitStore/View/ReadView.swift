internal import GRDB
internal import GodwitTree
public import Observation

extension Store {
    /// A frozen picture of the store's newest commit, which a screen can show.
    ///
    /// A view waits for no writer: while a commit is under way, the picture is that of the commit
    /// before it.
    ///
    /// - Throws: ``StoreError/closed``.
    public func view() async throws -> sending ReadView { ReadView(self, try openView()) }

    func openView() throws(StoreError) -> (id: VersionCache.ViewID, commit: CommitNumber) {
        if writer.isClosed { throw .closed }
        return context.cache.withVersions { $0.openView() }
    }
}

/// A picture of the store at one commit, which moves on when it is told to.
///
/// ```swift
/// @MainActor final class RosterModel {
///     let view: ReadView
///     let online: LiveList<Contact, Presence, String>
///
///     init(_ store: Store) async throws {
///         view = try await store.view()
///         online = try await view.list(contacts, grouped: { $0.presence }, sorted: { $0.name })
///     }
///
///     func run() async throws { try await view.follow() }
/// }
/// ```
///
/// Whatever is read through a view is of the same commit, however long that takes and whatever
/// is written meanwhile; ``advance()`` moves to the newest commit at once and tells what has
/// changed. A view belongs to one actor, the main one or another; it reads without waiting for
/// writers. It holds no SQLite transaction open, so it does not keep the WAL from being reset:
/// what has changed since its commit is kept in memory, up to ``StoreOptions/viewSizeInBytes``.
/// Beyond that a read throws ``StoreError/viewOvertaken(_:)`` until the view advances.
@Observable
public final class ReadView: ObjectReader {
    /// The commit that the view shows.
    public private(set) var commit: CommitNumber

    @ObservationIgnored let store: Store
    @ObservationIgnored private let id: VersionCache.ViewID
    @ObservationIgnored private var lists: [WeakList] = []

    private struct WeakList {
        weak var list: (any AdvancingList)?
    }

    init(_ store: Store, _ opened: (id: VersionCache.ViewID, commit: CommitNumber)) {
        self.store = store
        (id, commit) = opened
    }

    deinit {
        let (cache, id) = (store.context.cache, id)
        cache.withVersions { $0.closeView(id) }
    }

    public var source: ObjectSource { ObjectSource(objects) }

    var objects: ViewObjects {
        ViewObjects(database: store.database, context: store.context, commit: commit)
    }
}

extension ReadView {
    /// Moves to the newest commit, with all lists, in one step.
    ///
    /// - Returns: What has changed on the way, as one change set; nil when nothing has.
    /// - Throws: What the store throws when it cannot read. The view stands at the new commit
    ///   then, and lists that could not follow say so by ``ListChange/isReset``.
    @discardableResult
    public func advance() throws -> ChangeSet? {
        try lookForOtherProcesses()
        let (newest, changes) = store.context.cache.withVersions { $0.advanceView(id) }
        guard let changes else { return nil }
        commit = newest
        lists.removeAll { $0.list == nil }
        let results = lists.compactMap(\.list).map { list in
            Result { try list.advance(changes, objects) }
        }
        for result in results { try result.get() }
        return changes
    }

    /// Follows the store until the surrounding task is cancelled or the store is closed.
    ///
    /// Large changes are read and decoded off the view's actor before the view moves.
    ///
    /// - Parameters:
    ///   - isolation: The actor that the view belongs to.
    ///   - body: Called after each step, with what has changed.
    public func follow(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (ChangeSet) throws -> Void = { _ in }
    ) async throws {
        let changes = store.changes()
        if let missed = try advance() { try body(missed) }
        for await _ in changes {
            await prepare()
            if let changes = try advance() { try body(changes) }
        }
        try Task.checkCancellation()
    }

    /// A list of a collection's objects that follows the view: sorted, in sections.
    ///
    /// - Parameters:
    ///   - collection: The collection whose objects are listed.
    ///   - included: Which objects belong to the list.
    ///   - grouped: The section of an object; sections are sorted.
    ///   - sorted: By what the rows of a section are sorted; rows that are equal in this by key.
    ///   - isolation: The actor that the view belongs to.
    public func list<Object, Group, Rank>(
        _ collection: StoreCollection<Object>,
        where included: @escaping @Sendable (Object) -> Bool = { _ in true },
        grouped: @escaping @Sendable (Object) -> Group,
        sorted: @escaping @Sendable (Object) -> Rank,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> LiveList<Object, Group, Rank> {
        let rules = ListRules(
            collection: collection,
            isIncluded: included,
            group: grouped,
            rank: sorted
        )
        let preparation = try store.openView()
        defer { store.context.cache.withVersions { $0.closeView(preparation.id) } }
        let start = ViewObjects(
            database: store.database,
            context: store.context,
            commit: preparation.commit
        )
        var rows = try await ListRows.build(rules, start)
        // The view may have moved meanwhile, and stands where it does: look again at whatever
        // has changed since the rows were read, and at what had changed before that.
        let since = store.context.cache.withVersions { $0.unseen(by: preparation.id) }
        let before = store.context.cache.withVersions { $0.unseen(by: id) }
        let missed = [since, before].compactMap(\.self)
        if missed.contains(where: \.isReset) {
            rows = try ListRows(rules, objects)
        } else {
            for changes in missed { _ = try rows.advance(changes, rules, objects) }
        }
        let list = LiveList(rules, rows)
        lists.append(WeakList(list: list))
        return list
    }

    /// A sorted list without sections.
    public func list<Object, Rank>(
        _ collection: StoreCollection<Object>,
        where included: @escaping @Sendable (Object) -> Bool = { _ in true },
        sorted: @escaping @Sendable (Object) -> Rank,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> LiveList<Object, Ungrouped, Rank> {
        try await list(
            collection,
            where: included,
            grouped: { _ in Ungrouped() },
            sorted: sorted
        )
    }
}

extension ReadView {
    private static let preparedMin = 64

    /// Has large changes decoded elsewhere, so that ``advance()`` finds them ready.
    private func prepare() async {
        let (id, cache) = (id, store.context.cache)
        guard let changes = cache.withVersions({ $0.unseen(by: id) }) else { return }
        let keys = changes.keys
        guard keys.count >= Self.preparedMin else { return }
        let places = lists.compactMap { $0.list?.decoder }
        await Self.decode(keys, places, cache, cache.withVersions { $0.published })
    }

    @concurrent
    private static func decode(
        _ keys: Set<ObjectKey>,
        _ decoders: [ObjectDecoder],
        _ cache: ObjectCache,
        _ commit: CommitNumber
    ) async {
        for key in keys {
            guard case .hit(let object?) = cache.withVersions({ $0.lookUp(key, at: commit) })
            else { continue }
            for decoder in decoders where decoder.collection == key.collection {
                decoder.decode(object, key)
            }
        }
    }

    private func lookForOtherProcesses() throws {
        let context = store.context
        guard context.options.hasOtherWriters else { return }
        try store.database.read { try context.catchUp(in: $0) }
    }
}
