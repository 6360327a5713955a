extension Store {
    /// The change sets of all commits from now on.
    public func changes() -> ChangeSets { context.feed.subscribe() }

    /// The change sets of the commits that change a collection.
    public func changes<Object>(in collection: Collection<Object>) -> ChangeSets {
        context.feed.subscribe(to: .collection(collection.name))
    }

    /// The change sets of the commits that change one object.
    public func changes<Object>(
        of key: some StoreKey,
        in collection: Collection<Object>
    ) -> ChangeSets {
        context.feed.subscribe(to: .object(collection.place(key)))
    }

    /// The object under a key, now and whenever it has changed; nil while there is none.
    ///
    /// ```swift
    /// for try await contact in store.values(of: "robbie", in: contacts) {
    ///     show(contact)
    /// }
    /// ```
    ///
    /// No change between the first value and the later ones is missed. A slow reader gets the
    /// newest value and not all of those between.
    public func values<Object>(
        of key: some StoreKey,
        in collection: Collection<Object>
    ) -> StoreValues<Object?> {
        StoreValues(store: self, changes: changes(of: key, in: collection)) { transaction in
            Observed(element: try transaction.get(key, in: collection), marks: nil)
        }
    }

    /// The objects that a query finds, now and whenever they have changed.
    ///
    /// A list that would be the same as the one before is left out, unless an object was touched.
    public func values<Object>(
        of query: StoreQuery<Object>
    ) -> StoreValues<QueryRows<Object>> {
        let changes = changes(in: query.collection)
        return StoreValues(store: self, changes: changes) { transaction in
            let found = try transaction.markedObjects(query)
            return Observed(element: found.rows, marks: found.marks)
        }
    }
}

extension Store {
    /// Whatever a reading gives, now and whenever a commit has made it another.
    ///
    /// ```swift
    /// for try await total in store.values({ try $0.sum(\.cents, of: open) }) { show(total) }
    /// ```
    ///
    /// The store reads again after each commit, whatever it changes; a slow reader of the sequence makes it
    /// read less often. A transaction that changes the app's own tables alone is a commit only if it calls
    /// ``WriteTransaction/touch()``.
    public func values<Element: Equatable & Sendable>(
        _ read: @escaping @Sendable (borrowing ReadTransaction) throws -> Element
    ) -> StoreValues<Element> {
        StoreValues(store: self, changes: changes()) { transaction in
            let element = try read(transaction)
            return Observed(element: element, isSame: { $0 == element })
        }
    }

    /// The objects that a query finds with their commits, now and whenever they have changed.
    func markedValues<Object>(of query: StoreQuery<Object>) -> StoreValues<MarkedRows<Object>> {
        let changes = changes(in: query.collection)
        return StoreValues(store: self, changes: changes) { transaction in
            let found = try transaction.markedObjects(query)
            return Observed(element: found, marks: found.marks)
        }
    }

    /// The objects that a full-text search finds, now and whenever they have changed.
    public func values<Object>(
        of query: TextQuery<Object>
    ) -> StoreValues<TextRows<Object>> {
        let changes = changes(in: query.collection)
        return StoreValues(store: self, changes: changes) { transaction in
            let found = try transaction.markedObjects(query)
            return Observed(element: found.rows, marks: found.marks)
        }
    }
}

/// What a sequence of values has read at one commit.
struct Observed<Element: Sendable>: Sendable {
    let element: Element
    /// What the element was made of; nil when each commit counts.
    var marks: [ObjectMark]?
    /// Whether another element is the same as this one, where no marks tell.
    var isSame: (@Sendable (Element) -> Bool)?
}

/// A value that is read now, and again after each commit that may have changed it.
public struct StoreValues<Element: Sendable>: AsyncSequence, Sendable {
    typealias Read = @Sendable (borrowing ReadTransaction) throws -> Observed<Element>

    let store: Store
    let changes: ChangeSets
    let read: Read

    public func makeAsyncIterator() -> Iterator {
        Iterator(store: store, changes: changes.makeAsyncIterator(), read: read)
    }

    public struct Iterator: AsyncIteratorProtocol {
        let store: Store
        var changes: ChangeSets.Iterator
        let read: Read
        private var seen: CommitNumber?
        /// The commit of the last element that was returned.
        private var told: CommitNumber = .none
        private var marks: [ObjectMark]?
        private var last: Element?

        init(store: Store, changes: ChangeSets.Iterator, read: @escaping Read) {
            self.store = store
            self.changes = changes
            self.read = read
        }

        /// - Throws: What the store throws when it cannot read.
        public mutating func next() async throws -> Element? {
            // The subscription began before the first read, so nothing falls between them; what
            // the read has seen already is not reported twice.
            while true {
                var isTouched = seen == nil
                while let seen {
                    guard let changes = await changes.next() else { return nil }
                    isTouched = !changes.touched.isEmpty && changes.last > told
                    if changes.last > seen || changes.isReset || isTouched { break }
                }
                let read = read
                let (reading, commit) = try await store.read { transaction in
                    (try read(transaction), transaction.lastCommit)
                }
                let hasSameMarks = reading.marks != nil && reading.marks == marks
                let isSame = hasSameMarks || last.flatMap { reading.isSame?($0) } == true
                (seen, marks) = (commit, reading.marks)
                guard !isSame || isTouched && reading.isSame == nil else { continue }
                told = commit
                last = reading.isSame == nil ? nil : reading.element
                return reading.element
            }
        }
    }
}
