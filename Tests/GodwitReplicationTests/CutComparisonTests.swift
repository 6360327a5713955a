import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = Store.Collection<Value>("cards")

/// Comparisons with a server that end before they have come to an end.
@Suite struct CutComparisonTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store() async throws -> Store { try Store(.file(folder.path("store.sqlite"))) }

    /// A server with cards that another device has written.
    private func line(with count: Int) async throws -> Pair {
        let theirs = try await Pair(Store(.memory))
        try await theirs.replica.store.write { transaction in
            for number in 0..<count {
                try transaction.set(.int(Int64(number)), for: "c\(number)", in: cards)
            }
        }
        try await theirs.synchronize()
        return theirs
    }

    @Test func `a download goes on where it was when the app has ended`() async throws {
        let theirs = try await line(with: 400)
        let ours = try await Pair(store(), theirs.line)
        try await ours.distrust()
        var received = 0
        for _ in 0..<1_000 where received < 300 {
            let told = try await ours.step(sizeMax: 20).told
            received += told
        }
        #expect((300..<340).contains(received))
        #expect(
            try await ours.download() == DownloadProgress(completedCount: received, totalCount: 400)
        )
        #expect(try await ours.count() == 0)
        try ours.replica.store.close()

        // Meanwhile objects that have come already are changed and removed.
        try await theirs.replica.store.write { transaction in
            try transaction.set("new", for: "c1", in: cards)
            try transaction.remove("c100", in: cards)
        }
        try await theirs.synchronize()
        let again = try await Pair(store(), theirs.line)
        var rest = 0
        for _ in 0..<1_000 where try await again.count() == 0 {
            let told = try await again.step(sizeMax: 20).told
            rest += told
            guard let download = try await again.download() else { continue }
            #expect(download.completedCount >= received - 1 && download.fractionCompleted < 1)
        }
        // A range of at most 25 objects around each of the two is told again.
        #expect((400 - received - 2...400 - received + 50).contains(rest))
        try await again.synchronize()
        #expect(try await again.objects() == theirs.line.objects)
        #expect(try await again.fetchedCount() == 0)
    }

    @Test func `nothing is lost or brought back where comparisons are cut off`() async throws {
        var cutCount = 0
        for seed in 0..<UInt64(40) { cutCount += try await cut(seed) }
        #expect(cutCount > 20)
    }

    /// - Returns: How often the app ended while objects that had come were kept.
    private func cut(_ seed: UInt64) async throws -> Int {
        let folder = try TemporaryFolder()
        func store() throws -> Store { try Store(.file(folder.path("store.sqlite"))) }
        var cutCount = 0
        var random = Seeded(seed: seed)
        let theirs = try await line(with: 60)
        var ours = try await Pair(store(), theirs.line)
        if random.happens(0.5) { try await ours.synchronize() }
        let backup = theirs.line.backup
        var isGone: Set<String> = []
        for round in 0..<6 {
            let number = Int.random(in: 0..<60, using: &random)
            let (own, other) = ("ours\(round)", "theirs\(round)")
            try await ours.replica.store.write { try $0.set(1, for: own, in: cards) }
            try await theirs.replica.store.write { transaction in
                try transaction.set(1, for: other, in: cards)
                _ = try transaction.remove("c\(number)", in: cards)
            }
            isGone.insert("c\(number)")
            try await theirs.synchronize()
            try await ours.distrust()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                guard try await ours.step(sizeMax: 5).isBehind else { break }
            }
            guard random.happens(0.7) else { continue }
            if try await ours.fetchedCount() > 0 { cutCount += 1 }
            try ours.replica.store.close()
            ours = try await Pair(store(), theirs.line)
        }
        let isRestored = random.happens(0.3)
        if isRestored { theirs.line.backup = backup }
        for _ in 0..<2 {
            try await ours.synchronize()
            try await theirs.synchronize()
        }
        try await ours.synchronize()
        let objects = theirs.line.objects
        #expect(try await ours.objects() == objects, "seed \(seed)")
        #expect(try await theirs.objects() == objects, "seed \(seed)")
        let keys = Set(objects.keys.map(\.key.text))
        for round in 0..<6 {
            #expect(keys.isSuperset(of: ["ours\(round)", "theirs\(round)"]), "seed \(seed)")
        }
        #expect(keys.isDisjoint(with: isGone), "seed \(seed)")
        #expect(try await ours.fetchedCount() == 0, "seed \(seed)")
        let problems = try await ours.replica.store.write { [replica = ours.replica] in
            try replica.problems(in: $0)
        }
        #expect(problems == [], "seed \(seed)")
        return cutCount
    }

    @Test func `a damaged object that had come is fetched again`() async throws {
        let theirs = try await line(with: 60)
        let ours = try await Pair(store(), theirs.line)
        try await ours.distrust()
        for _ in 0..<1_000 where try await ours.fetchedCount() == 0 {
            _ = try await ours.step(sizeMax: 5)
        }
        try await ours.replica.store.write { transaction in
            try transaction.database.execute(
                sql: "UPDATE godwit_device_fetched SET value = x'ff'"
            )
            transaction.touch()
        }
        try ours.replica.store.close()
        let again = try await Pair(store(), theirs.line)
        var requestCount = 0
        for _ in 0..<1_000 where try await again.count() == 0 {
            _ = try await again.step(sizeMax: 5)
            requestCount += 1
        }
        #expect(requestCount > 10, "it has compared")
        #expect(try await again.objects() == theirs.line.objects)
    }
}

extension Pair {
    fileprivate func distrust() async throws {
        let replica = replica
        try await replica.store.write { try replica.distrust(in: $0) }
    }

    /// One request for a small answer.
    fileprivate func step(sizeMax: Int) async throws -> (told: Int, isBehind: Bool) {
        let (replica, line) = (replica, line)
        let request = try await replica.store.write {
            try replica.nextRequest(sizeMax: sizeMax, in: $0)
        }
        let answer = try line.serve(request)
        let isBehind = try await replica.store.write {
            try replica.receive(answer, to: request, in: $0)
        }
        guard case .comparison(let answers?) = answer else { return (0, isBehind) }
        let told = answers.reduce(0) { count, answer in
            if case .objects(let objects) = answer { count + objects.count } else { count }
        }
        return (told, isBehind)
    }

    fileprivate func download() async throws -> DownloadProgress? {
        let replica = replica
        return try await replica.store.write { try replica.download(in: $0) }
    }

    fileprivate func count() async throws -> Int {
        try await replica.store.read { try $0.count(in: cards) }
    }

    fileprivate func fetchedCount() async throws -> Int {
        let replica = replica
        return try await replica.store.write {
            try replica.device(in: $0).fetched().count
        }
    }
}
