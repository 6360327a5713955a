import GRDB
import GodwitTestKit
import GodwitTree

@testable import GodwitQueue
@testable import GodwitStore

// What the launches read, by the store's own ways and past them.

extension World {
    /// Reads everything by the store's own ways, and past them.
    func readAll(_ launch: Launch) {
        start(launch) { [self] launch in
            do {
                try await launch.store.read { [self] transaction in
                    let rows = try Disk.objects(in: transaction.database)
                    let notes = rows.filter { $0.key.collection == App.notes.name }
                    let collection = launch.collection(App.notes.name)
                    for key in App.keys {
                        let stored = notes[collection.place(key)]
                        let isRight = try launch.gets(stored) {
                            try transaction.get(key, in: collection)
                        }
                        books.expect(.commitsAreNotMixed, isRight, "a stale \(key)")
                    }
                    let count = try transaction.count(in: collection)
                    books.expect(
                        .commitsAreNotMixed,
                        count == notes.count,
                        "the store counts \(count) notes of \(notes.count)"
                    )
                    try check(notes, by: launch, in: transaction)
                    let marks = try Disk.marks(in: transaction.database)
                    books.check(marks, through: transaction.lastCommit, .whileItRuns)
                    books.expect(
                        .allOrNothing,
                        books.objects(after: marks, through: transaction.lastCommit) == rows,
                        "the objects are not what the writes have made of them"
                    )
                }
            } catch {
                guard launch.isAlive, !mayFail(launch.process), !(error is CancellationError)
                else { return }
                books.violate(.storeGoesOn, "a read fails: \(error)")
            }
        }
    }

    private func check(
        _ notes: [ObjectKey: StoredNote],
        by launch: Launch,
        in transaction: borrowing ReadTransaction
    ) throws {
        let collection = launch.collection(App.notes.name)
        let readable = notes.compactMapValues { $0.seen(by: launch.version) }
        for index in launch.indexes {
            let found: [String]
            do {
                found = try transaction.objects(Store.Query(collection, by: index)).map(\.key)
            } catch let error where launch.isOutdated(in: self) && isOfNewerApp(error) {
                continue
            }
            let sorted = readable.sorted { left, right in
                let ranks = index == App.byRank ? (left.value.rank, right.value.rank) : (0, 0)
                return (ranks.0, left.value.number, left.key.key.text)
                    < (ranks.1, right.value.number, right.key.key.text)
            }.map(\.key.key.text)
            books.expect(
                .indexesAreCurrent,
                found == sorted,
                "\(index.name) finds \(found), not \(sorted)"
            )
        }
    }

    /// Opens a view, which stays for a while and moves on now and then.
    func openView(_ launch: Launch) {
        let rounds = Int.random(in: 1...4, using: &random)
        start(launch) { [self] launch in
            do {
                let view = try await launch.store.view()
                let list = try await view.list(
                    launch.collection(App.notes.name),
                    where: { $0.rank > 0 },
                    grouped: { $0.number % 2 },
                    sorted: \.rank
                )
                for _ in 0..<rounds {
                    try check(view, list, launch)
                    let delay = Int.random(in: 0...300, using: &random)
                    try await clock.sleep(for: .milliseconds(delay))
                    try check(view, list, launch)
                    let before = view.commit
                    guard let changes = try view.advance() else { continue }
                    books.expect(
                        .viewsAdvanceAtOnce,
                        changes.first == before.next && changes.last == view.commit,
                        "a view goes from \(before) to \(view.commit) by \(changes)"
                    )
                }
                try check(view, list, launch)
            } catch {
                guard launch.isAlive, !mayFail(launch.process), !(error is CancellationError)
                else { return }
                books.violate(.storeGoesOn, "a view fails: \(error)")
            }
        }
    }

    private func check(
        _ view: ReadView,
        _ list: LiveList<Note, Int64, Int64>,
        _ launch: Launch
    ) throws {
        guard launch.isAlive else { return }
        let marks = try launch.store.database.read { try Disk.marks(in: $0) }
        let objects = books.objects(after: marks, through: view.commit)
        let collection = launch.collection(App.notes.name)
        for key in App.keys {
            let stored = objects[collection.place(key)]
            let isRight = try launch.gets(stored) { try view.get(key, in: collection) }
            books.expect(
                .commitsAreNotMixed,
                isRight,
                "a view at \(view.commit) shows another \(key)"
            )
        }
        let notes = objects.filter { $0.key.collection == collection.name }
            .compactMapValues { $0.seen(by: launch.version) }
        let sorted = notes.filter { $0.value.rank > 0 }.sorted { left, right in
            let (group, other) = (left.value.number % 2, right.value.number % 2)
            return (group, left.value.rank, left.key.key.text)
                < (other, right.value.rank, right.key.key.text)
        }
        books.expect(
            .listsAreSorted,
            list.keys() == sorted.map(\.key.key.text),
            "a list at \(view.commit) has \(list.keys())"
        )
    }
}

extension Launch {
    /// Whether this version of the app gets what is stored: nothing of what a newer one has written.
    fileprivate func gets(_ stored: StoredNote?, _ get: () throws -> Note?) throws -> Bool {
        guard let stored, stored.version > version else {
            return try get() == stored?.seen(by: version)
        }
        do {
            _ = try get()
            return false
        } catch StoreError.newerObject {
            return true
        }
    }
}

/// Whether an error says that a newer version of the app was there.
func isOfNewerApp(_ error: any Error) -> Bool {
    switch error {
    case StoreError.newerObject, StoreError.newerIndex: true
    default: false
    }
}
