internal import DequeModule
internal import GodwitTree

/// What is known of objects at which commits: the cache's memory, and what frozen views need.
///
/// An object's *current* version holds from the commit that wrote it to the newest published
/// one. When it changes while a view is open, the old version is kept as a *past* one until no
/// view can see it. So a view needs no open SQLite transaction, which would keep the WAL from
/// being reset.
///
/// Invariants:
/// 1. A version covers commits in which the object really was so, and no other ones.
/// 2. A current version covers nothing beyond `published`: a reader that already sees a newer
///    commit than was published does not trust it.
/// 3. For each open view at *n* that is not overtaken, and each object that changed after *n*,
///    there is a past version that covers *n*. It is there before SQLite commits the change; a
///    version that no view stands on goes when the change is published.
/// 4. Current versions cost at most `costMax`, past ones at most `pastCostMax`.
struct VersionCache {
    enum Lookup {
        case hit(StoredObject?)
        case miss
    }

    struct Change {
        let key: ObjectKey
        let commit: CommitNumber
        let object: StoredObject?
    }

    /// What an object was before the commit that changed it.
    struct Past {
        let key: ObjectKey
        let end: CommitNumber
        let object: StoredObject?
    }

    struct Counts: Hashable {
        var hits = 0
        var misses = 0
        var cost = 0
        var pastCost = 0
    }

    /// Where a current version is, or none.
    ///
    /// It is no optional: to look into one copies it, and counts five references up and down.
    private struct Slot {
        static let free = Slot(key: .none, first: .none, object: nil, isFree: true)

        let key: ObjectKey
        var first: CommitNumber
        var object: StoredObject?
        var isVisited = false
        var isFree = false
        var cost: Int { (object?.cost ?? 0) + slotCost }
    }

    /// An open view: where it stands, and what has been published since.
    private struct OpenView {
        var commit: CommitNumber
        var unseen: ChangeSet?
    }

    private struct PastVersion {
        let first: CommitNumber
        let end: CommitNumber
        let object: StoredObject?
    }

    private(set) var published: CommitNumber
    private(set) var counts = Counts()
    private let costMax: Int
    private let pastCostMax: Int

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The slots, by the hashes of their keys: to find a key among others copies them.
    private var places: [Int: Int] = [:]
    private var hand = 0

    /// The newest version that was given up: what a reader of an older commit has read may have
    /// changed since, and the cache does not remember.
    private var fillFloor: CommitNumber

    private var views: [ViewID: OpenView] = [:]
    private var lastView = 0
    private var past: [Key: [Key: [PastVersion]]] = [:]
    private var pastOrder: Deque<(key: ObjectKey, end: CommitNumber, cost: Int)> = []
    private var viewFloor: CommitNumber = .none
    /// What the commit that is under way changes, if there was no view to keep it for.
    private var offered: [Past] = []

    private static let slotCost = 128

    init(published: CommitNumber, costMax: Int, pastCostMax: Int) {
        self.published = published
        self.costMax = costMax
        self.pastCostMax = pastCostMax
        fillFloor = published
    }
}

// MARK: - Reading

extension VersionCache {
    /// The object as it was at a commit, as far as that is known.
    ///
    /// - Complexity: O(1), and O(*v*) in the past versions of the object.
    mutating func lookUp(_ key: ObjectKey, at commit: CommitNumber) -> Lookup {
        if let place = place(of: key), slots[place].first <= commit, commit <= published {
            slots[place].isVisited = true
            counts.hits += 1
            return .hit(slots[place].object)
        }
        let found = pastVersion(of: key, at: commit)
        if case .hit = found { counts.hits += 1 } else { counts.misses += 1 }
        return found
    }

    private func place(of key: ObjectKey) -> Int? {
        guard let place = places[key.hash], slots[place].key == key else { return nil }
        return place
    }

    /// What the object was for a view, if it has changed since.
    func pastVersion(of key: ObjectKey, at commit: CommitNumber) -> Lookup {
        let versions = past[key.collection]?[key.key] ?? []
        guard let version = versions.last(where: { $0.first <= commit && commit < $0.end }) else {
            return .miss
        }
        return .hit(version.object)
    }

    /// The objects of a collection that have changed since a view's commit, as they were then.
    func pastVersions(in collection: Key, at commit: CommitNumber) -> [Key: StoredObject?] {
        (past[collection] ?? [:]).compactMapValues { versions in
            versions.last { $0.first <= commit && commit < $0.end }.map(\.object)
        }
    }

    /// The collections of which a past version is kept.
    var pastCollections: [Key] { Array(past.keys) }

    /// Whether past versions that this commit needs were given up.
    func isOvertaken(_ commit: CommitNumber) -> Bool { commit < viewFloor }

    /// Remembers what a transaction has read in the database at a commit.
    ///
    /// What may have changed since is not remembered (invariant 1).
    mutating func fill(_ key: ObjectKey, with object: StoredObject?, readAt commit: CommitNumber) {
        guard commit <= published, commit >= fillFloor, place(of: key) == nil, costMax > 0 else {
            return
        }
        insert(Slot(key: key, first: object?.commit ?? commit, object: object))
        evict()
    }
}

// MARK: - Writing

extension VersionCache {
    /// Takes what a commit is about to change; called before SQLite commits.
    ///
    /// Until the change is published a view may still be opened at the commit before it, or advance
    /// to that.
    mutating func offer(_ changes: [Past]) {
        if views.isEmpty { offered += changes } else { keep(changes) }
    }

    /// Keeps what is about to change for the views.
    private mutating func keep(_ changes: [Past]) {
        let commits = views.values.map(\.commit).filter { $0 >= viewFloor }
        for change in changes {
            let (collection, key) = (change.key.collection, change.key.key)
            // Since when there is no object is not written anywhere; but it has not changed since
            // the first view that it has no version for: invariant 3.
            let end = past[collection]?[key]?.last?.end ?? .none
            let version = PastVersion(
                first: change.object?.commit ?? commits.filter { $0 >= end }.min() ?? published,
                end: change.end,
                object: change.object
            )
            past[collection, default: [:]][key, default: []].append(version)
            let cost = (change.object?.cost ?? 0) + Self.slotCost
            pastOrder.append((change.key, change.end, cost))
            counts.pastCost += cost
        }
        while counts.pastCost > pastCostMax, let (_, end, _) = pastOrder.first {
            viewFloor = max(viewFloor, end)
            dropPast(through: end)
        }
    }

    /// Forgets what was kept for a commit that failed.
    mutating func unkeep() {
        offered = []
        while let (key, end, cost) = pastOrder.last, end > published {
            pastOrder.removeLast()
            counts.pastCost -= cost
            past[key.collection]?[key.key]?.removeLast()
            removeIfEmpty(key)
        }
        viewFloor = min(viewFloor, published)
    }

    /// Takes in what was committed; later readers find it here.
    mutating func publish(
        _ changes: [Change],
        as sets: [ChangeSet],
        through commit: CommitNumber
    ) {
        offered = []
        dropUnseen(after: published)
        published = max(published, commit)
        for set in sets { show(set) }
        for change in changes {
            change.object?.forgetValue()
            if let place = place(of: change.key) {
                counts.cost -= slots[place].cost
                slots[place].object = change.object
                slots[place].first = change.commit
                counts.cost += slots[place].cost
            } else {
                insert(Slot(key: change.key, first: change.commit, object: change.object))
            }
        }
        if views.isEmpty { dropPast(through: published) }
        evict()
    }

    /// Takes in commits whose new objects are not at hand.
    mutating func forget(
        _ changes: [ObjectKey: CommitNumber],
        as sets: [ChangeSet],
        through commit: CommitNumber
    ) {
        for (key, changed) in changes {
            fillFloor = max(fillFloor, changed)
            if let place = place(of: key) { removeSlot(place) }
        }
        publish([], as: sets, through: commit)
    }

    /// Everything may have changed: another process has written, and it is not known what.
    mutating func reset(to commit: CommitNumber) {
        (slots, freeSlots, places, hand) = ([], [], [:], 0)
        (past, pastOrder, viewFloor, fillFloor) = ([:], [], commit, commit)
        offered = []
        (counts.cost, counts.pastCost) = (0, 0)
        published = commit
        show(ChangeSet(commit: commit, isReset: true))
    }
}

// MARK: - Views

extension VersionCache {
    typealias ViewID = Int

    /// Freezes the newest commit for a view.
    mutating func openView() -> (id: ViewID, commit: CommitNumber) {
        lastView += 1
        views[lastView] = OpenView(commit: published)
        if !offered.isEmpty { keep(offered) }
        offered = []
        return (lastView, published)
    }

    /// Moves a view to the newest commit.
    ///
    /// - Returns: Where it stands now, and all that has changed on the way.
    mutating func advanceView(_ id: ViewID) -> (commit: CommitNumber, changes: ChangeSet?) {
        let unseen = views[id]?.unseen
        views[id] = OpenView(commit: published)
        dropPast(through: oldestView ?? published)
        return (published, unseen)
    }

    mutating func closeView(_ id: ViewID) {
        views[id] = nil
        dropPast(through: oldestView ?? published)
    }

    /// What has been published since a view was opened or has last moved.
    func unseen(by id: ViewID) -> ChangeSet? { views[id]?.unseen }

    var viewCount: Int { views.count }
    var oldestView: CommitNumber? { views.values.map(\.commit).min() }

    private mutating func show(_ changes: ChangeSet) {
        // A copy of the ids: `views.keys` would share the dictionary, and each merge would copy it
        // with all that the views have not seen.
        for id in Array(views.keys) {
            if views[id]?.unseen == nil {
                views[id]?.unseen = changes
            } else {
                views[id]?.unseen?.merge(changes)
            }
        }
    }
}

// MARK: - Bounds

extension VersionCache {
    private mutating func insert(_ slot: Slot) {
        guard costMax > 0 else { return }
        // Of two keys with one hash, which is as good as never, one is known.
        if let place = places[slot.key.hash] { giveUp(place) }
        if let place = freeSlots.popLast() {
            slots[place] = slot
            places[slot.key.hash] = place
        } else {
            places[slot.key.hash] = slots.count
            slots.append(slot)
        }
        counts.cost += slot.cost
    }

    /// Gives up what was not looked up since the hand last passed (CLOCK, Corbató 1968).
    private mutating func evict() {
        while counts.cost > costMax {
            hand = hand + 1 < slots.count ? hand + 1 : 0
            if slots[hand].isVisited {
                slots[hand].isVisited = false
            } else if !slots[hand].isFree {
                giveUp(hand)
            }
        }
    }

    private mutating func giveUp(_ place: Int) {
        fillFloor = max(fillFloor, slots[place].first)
        removeSlot(place)
    }

    private mutating func removeSlot(_ place: Int) {
        counts.cost -= slots[place].cost
        places[slots[place].key.hash] = nil
        slots[place] = .free
        freeSlots.append(place)
    }

    private mutating func dropPast(through end: CommitNumber) {
        while let first = pastOrder.first, first.end <= end {
            pastOrder.removeFirst()
            counts.pastCost -= first.cost
            past[first.key.collection]?[first.key.key]?.removeFirst()
            removeIfEmpty(first.key)
        }
    }

    /// Drops what was kept for the commits after this one, where no view stands on it.
    ///
    /// - Complexity: O(*v*) per version in the open views.
    private mutating func dropUnseen(after commit: CommitNumber) {
        let commits = views.values.map(\.commit)
        var seen: [(key: ObjectKey, end: CommitNumber, cost: Int)] = []
        while let last = pastOrder.last, last.end > commit {
            pastOrder.removeLast()
            let (collection, key) = (last.key.collection, last.key.key)
            guard let version = past[collection]?[key]?.last else { continue }
            if commits.contains(where: { version.first <= $0 && $0 < version.end }) {
                seen.append(last)
            } else {
                counts.pastCost -= last.cost
                past[collection]?[key]?.removeLast()
                removeIfEmpty(last.key)
            }
        }
        pastOrder.append(contentsOf: seen.reversed())
    }

    private mutating func removeIfEmpty(_ key: ObjectKey) {
        guard past[key.collection]?[key.key]?.isEmpty == true else { return }
        past[key.collection]?[key.key] = nil
        if past[key.collection]?.isEmpty == true { past[key.collection] = nil }
    }
}
