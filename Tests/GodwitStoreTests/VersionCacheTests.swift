import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

/// The cache against a model, under random interleavings of writers, readers and views.
@Suite struct VersionCacheTests {
    @Test(arguments: 1...40 * Soak.factor)
    func `no reader and no view ever sees another commit's object`(seed: Int) {
        var world = CacheWorld(seed: UInt64(seed))
        for _ in 0..<2_000 { world.step() }
        #expect(world.hits > 100, "the cache is used, seed \(seed)")
    }

    @Test func `of an object that changes all the time, a view costs one version`() {
        var cache = VersionCache(published: .none, costMax: 0, pastCostMax: .max)
        let view = cache.openView()
        let key = ObjectKey(collection: "c", key: "k")
        var object: StoredObject?
        var costs: Set<Int> = []
        for number in 1...20 as ClosedRange<Int64> {
            let commit = CommitNumber(rawValue: number)
            cache.offer([.init(key: key, end: commit, object: object)])
            object = StoredObject(at: key, bytes: [0x60], metadata: nil, version: 1, commit: commit)
            cache.publish([], as: [ChangeSet(commit: commit, updated: [key])], through: commit)
            costs.insert(cache.counts.pastCost)
        }
        #expect(costs.count == 1)
        guard case .hit(nil) = cache.pastVersion(of: key, at: view.commit) else {
            Issue.record("the object was not there yet")
            return
        }
    }

    @Test func `of two keys with one hash one is known, and neither for the other`() {
        var cache = VersionCache(published: .none, costMax: .max, pastCostMax: .max)
        let keys = ["a", "b"].map { ObjectKey(collection: "c", key: $0, hash: 7) }
        func known() -> [Int64?] {
            keys.map { key in
                guard case .hit(let object) = cache.lookUp(key, at: cache.published) else {
                    return nil
                }
                return object?.commit.rawValue
            }
        }
        func publish(_ number: Int64, at key: ObjectKey) {
            let commit = CommitNumber(rawValue: number)
            let object = StoredObject(at: key, bytes: [], metadata: nil, version: 1, commit: commit)
            let sets = [ChangeSet(commit: commit, updated: [key])]
            cache.publish(
                [.init(key: key, commit: commit, object: object)],
                as: sets,
                through: commit
            )
        }
        publish(1, at: keys[0])
        #expect(known() == [1, nil])
        publish(2, at: keys[1])
        #expect(known() == [nil, 2])
        let cost = cache.counts.cost
        publish(3, at: keys[0])
        #expect(known() == [3, nil] && cache.counts.cost == cost)
        // A reader of the commit before has read what may have changed since.
        cache.fill(keys[1], with: nil, readAt: CommitNumber(rawValue: 1))
        #expect(known() == [3, nil])
    }

    @Test func `what no view can see any more is forgotten when the last one advances`() {
        var cache = VersionCache(published: .none, costMax: 0, pastCostMax: .max)
        let view = cache.openView()
        let key = ObjectKey(collection: "c", key: "k")
        let commit = CommitNumber(rawValue: 1)
        cache.offer([.init(key: key, end: commit, object: nil)])
        cache.publish([], as: [ChangeSet(commit: commit, inserted: [key])], through: commit)
        #expect(cache.counts.pastCost > 0)
        #expect(cache.advanceView(view.id).commit == commit)
        #expect(cache.counts.pastCost == 0)
    }

    @Test func `a view that was overtaken says so, and the others do not`() {
        var cache = VersionCache(published: .none, costMax: 0, pastCostMax: 2_000)
        let old = cache.openView()
        for number in 1...20 as ClosedRange<Int64> {
            let commit = CommitNumber(rawValue: number)
            let key = ObjectKey(collection: "c", key: Key("\(number)"))
            let object = StoredObject(
                at: key,
                bytes: Array(repeating: 0x60, count: 100),
                metadata: nil,
                version: 1,
                commit: .none
            )
            cache.offer([.init(key: key, end: commit, object: object)])
            cache.publish([], as: [ChangeSet(commit: commit, updated: [key])], through: commit)
        }
        #expect(cache.isOvertaken(old.commit))
        #expect(cache.counts.pastCost <= 2_000)
        let new = cache.openView()
        #expect(!cache.isOvertaken(new.commit))
        let moved = cache.advanceView(old.id)
        #expect(moved.commit == new.commit)
        #expect(moved.changes?.first == CommitNumber(rawValue: 1))
        #expect(moved.changes?.last == CommitNumber(rawValue: 20))
        cache.closeView(old.id)
        cache.closeView(new.id)
        #expect(cache.counts.pastCost == 0, "nothing is kept for nobody")
    }
}

/// A database of commits, and everyone who looks at it through the cache.
private struct CacheWorld {
    private struct Reader {
        let snapshot: CommitNumber
        var pendingFill: (key: ObjectKey, object: StoredObject?)?
    }

    private var random: Seeded
    private let seed: UInt64
    private var cache: VersionCache
    private let keys = (0..<6).map { ObjectKey(collection: $0 < 3 ? "a" : "b", key: Key("\($0)")) }
    /// What each commit looked like; the last one is what SQLite shows.
    private var history: [[ObjectKey: StoredObject]] = [[:]]
    private var writing: [ObjectKey: StoredObject?]?
    private var isCommitted = false
    private var readers: [Reader] = []
    private var views: [(id: Int, commit: CommitNumber)] = []
    private(set) var hits = 0

    init(seed: UInt64) {
        self.seed = seed
        random = Seeded(seed: seed)
        // Little room, so that eviction happens all the time.
        cache = VersionCache(
            published: .none,
            costMax: 1_500,
            pastCostMax: seed.isMultiple(of: 2) ? 3_000 : .max
        )
    }

    mutating func step() {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...1: write()
        case 2: beginRead()
        case 3...5: read()
        case 6: finishFill()
        case 7: if !readers.isEmpty { readers.removeFirst() }
        case 8: if views.count < 3 { views.append(cache.openView()) }
        case 9...10: lookThroughView()
        default: moveView()
        }
    }

    private var shown: CommitNumber { CommitNumber(rawValue: Int64(history.count - 1)) }

    /// A commit in three steps, with whatever happens between them: kept, committed, published.
    private mutating func write() {
        let next = shown.next
        guard let changes = writing else {
            var changes: [ObjectKey: StoredObject?] = [:]
            for key in keys where Int.random(in: 0..<3, using: &random) == 0 {
                changes[key] = Bool.random(using: &random) ? object(key, next) : .some(nil)
            }
            writing = changes
            let now = history[history.count - 1]
            cache.offer(changes.map { .init(key: $0.key, end: next, object: now[$0.key]) })
            return
        }
        if isCommitted {
            let sets = [ChangeSet(commit: shown, updated: Set(changes.keys))]
            let new = changes.map {
                VersionCache.Change(key: $0.key, commit: shown, object: $0.value)
            }
            cache.publish(new, as: sets, through: shown)
            (writing, isCommitted) = (nil, false)
        } else if Int.random(in: 0..<4, using: &random) == 0 {
            cache.unkeep()
            writing = nil
        } else {
            var state = history[history.count - 1]
            for (key, object) in changes { state[key] = object }
            history.append(state)
            isCommitted = true
        }
    }

    private func object(_ key: ObjectKey, _ commit: CommitNumber) -> StoredObject {
        StoredObject(
            at: key,
            bytes: Value.int(commit.rawValue).canonicalBytes,
            metadata: nil,
            version: 1,
            commit: commit
        )
    }

    private mutating func beginRead() {
        if readers.count < 4 { readers.append(Reader(snapshot: shown)) }
    }

    private mutating func read() {
        guard let place = readers.indices.randomElement(using: &random),
            let key = keys.randomElement(using: &random)
        else { return }
        let commit = readers[place].snapshot
        let truth = history[Int(commit.rawValue)][key]
        switch cache.lookUp(key, at: commit) {
        case .hit(let object): check(object, truth, key, commit)
        case .miss: readers[place].pendingFill = (key, truth)
        }
    }

    private mutating func finishFill() {
        guard let place = readers.indices.randomElement(using: &random),
            let fill = readers[place].pendingFill
        else { return }
        cache.fill(fill.key, with: fill.object, readAt: readers[place].snapshot)
        readers[place].pendingFill = nil
    }

    /// As `ViewObjects` does it: the cache, then what SQLite shows, then the cache again.
    private mutating func lookThroughView() {
        guard let view = views.randomElement(using: &random),
            let key = keys.randomElement(using: &random)
        else { return }
        let truth = history[Int(view.commit.rawValue)][key]
        var found = cache.lookUp(key, at: view.commit)
        if case .miss = found {
            found = cache.pastVersion(of: key, at: view.commit)
            if case .miss = found {
                let object = history[history.count - 1][key]
                found = .hit(object)
                cache.fill(key, with: object, readAt: shown)
            }
        }
        guard !cache.isOvertaken(view.commit), case .hit(let object) = found else { return }
        check(object, truth, key, view.commit)
    }

    private mutating func moveView() {
        guard let place = views.indices.randomElement(using: &random) else { return }
        let view = views[place]
        if Bool.random(using: &random) {
            cache.closeView(view.id)
            views.remove(at: place)
        } else {
            let moved = cache.advanceView(view.id)
            let first = moved.changes?.first
            #expect(first == nil || first == view.commit.next, "no gap, seed \(seed)")
            #expect((moved.changes?.last ?? view.commit) == moved.commit, "seed \(seed)")
            views[place].commit = moved.commit
        }
    }

    private mutating func check(
        _ found: StoredObject?,
        _ truth: StoredObject?,
        _ key: ObjectKey,
        _ commit: CommitNumber
    ) {
        hits += 1
        #expect(found?.commit == truth?.commit, "\(key) at \(commit), seed \(seed)")
    }
}
