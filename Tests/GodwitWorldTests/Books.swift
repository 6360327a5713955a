import GodwitQueue
import GodwitTree

@testable import GodwitStore

/// What the world has asked for, and what it was told: the oracle beside what ships.
///
/// A write is numbered by the world and leaves its number in the store, as a mark. So the disk
/// itself says which writes were committed, and the books say what must follow from them.
struct Books {
    /// What the app knows about a write.
    enum Answer {
        case open
        case committed
        /// Its body has thrown: it must never be seen.
        case undone
        /// It may be there or not, as far as the app knows.
        case failed
        /// It is gone for good.
        case lost
    }

    struct Write {
        let launch: Int
        var commit: CommitNumber = .none
        /// The objects that it has written; nil for those that it has removed.
        var changes: [ObjectKey: StoredNote?] = [:]
        var pushes: [QueuedPush] = []
        var answer = Answer.open
        /// Whether it must outlast a power cut.
        var isSynced = false
    }

    struct QueuedPush {
        let push: Push
        let id: OperationID
        let pipeline: String
        let needs: [OperationID]
    }

    var writes: [Int: Write] = [:]
    /// The last commit that each launch was told of.
    var told: [Int: CommitNumber] = [:]
    /// The operations that a launch has skipped, or tried to.
    var skipped: Set<OperationID> = []
    /// The operations that were dead letters at some time: later ones may have overtaken them.
    var refused: Set<OperationID> = []
    /// At which idle moment pipelines were suspended for sure.
    var suspended: [String: Int] = [:]
    /// The holds that operations have for sure, by context, and since which idle moment.
    var holds: [OperationID: [String: Int]] = [:]
    /// The last commit in which a user changed an operation.
    var choreCommits: [OperationID: CommitNumber] = [:]
    /// The holds of a transaction that is not committed yet, and of those that are not answered.
    var tentative: [(OperationID, String)] = []
    var pending: [Int: [(OperationID, String)]] = [:]
    /// The objects that a restored backup has set back: the cloud may know newer ones.
    var lostPlaces: Set<ObjectKey> = []
    /// How often a launch has resumed all pipelines, or tried to.
    var resumeCount = 0
    /// The first promise that was broken, and how.
    private(set) var violation: String?
    /// How often each promise was put to the test.
    private(set) var looks: [Promise: Int] = [:]

    func pipeline(of id: OperationID) -> String? {
        for write in writes.values where write.answer == .committed {
            if let push = write.pushes.first(where: { $0.id == id }) { return push.pipeline }
        }
        return nil
    }

    mutating func expect(
        _ promise: Promise,
        _ isKept: Bool,
        _ fault: @autoclosure () -> String
    ) {
        if isKept { kept(promise) } else { violate(promise, fault()) }
    }

    /// Counts that a promise was put to the test, and kept.
    mutating func kept(_ promise: Promise) { looks[promise, default: 0] += 1 }

    mutating func violate(_ promise: Promise, _ fault: String) {
        violation = violation ?? "\(promise): \(fault)"
    }
}

extension Books {
    /// What the objects are after the marked writes up to a commit.
    func objects(
        after marks: [Int: CommitNumber],
        through commit: CommitNumber
    ) -> [ObjectKey: StoredNote] {
        let sorted = marks.filter { $0.value <= commit }.sorted { $0.value < $1.value }
        return sorted.reduce(into: [:]) { objects, mark in
            for (key, note) in writes[mark.key]?.changes ?? [:] { objects[key] = note }
        }
    }

    /// When the disk is looked at.
    enum Look {
        case whileItRuns
        /// The first look after a process was killed: the disk holds all that it had written.
        case afterKill
        /// The first look after a power cut: the disk holds every synced byte.
        case afterPowerCut
        /// The first look after a backup was restored: the disk is as it was then.
        case afterRestore
    }

    /// Holds the writes that the disk has against those that were acknowledged.
    ///
    /// - Parameter living: The launches that may still answer their open writes.
    mutating func check(
        _ marks: [Int: CommitNumber],
        through commit: CommitNumber,
        _ look: Look,
        living: Set<Int> = []
    ) {
        for (mark, found) in marks { checkPresence(of: mark, at: found, look) }
        let lastKept = marks.values.max() ?? .none
        for (mark, write) in writes where marks[mark] == nil {
            let isUndecided = write.answer == .open || write.answer == .failed
            if isUndecided, living.contains(write.launch) { continue }
            checkAbsence(of: mark, commit, lastKept, look)
        }
        if case .whileItRuns = look { return }
        for mark in marks.keys {
            writes[mark]?.answer = .committed
            if case .afterPowerCut = look { writes[mark]?.isSynced = true }
        }
    }

    private mutating func checkPresence(of mark: Int, at found: CommitNumber, _ look: Look) {
        guard let write = writes[mark] else {
            return violate(.allOrNothing, "mark \(mark) was never written")
        }
        expect(
            .commitsAreNotMixed,
            write.commit == found,
            "write \(mark) of commit \(write.commit) says \(found)"
        )
        switch (write.answer, look) {
        case (.undone, _): violate(.allOrNothing, "write \(mark) was undone, and is there")
        case (.lost, .afterRestore): break
        case (.lost, _):
            violate(.committedIsCommitted, "write \(mark) was lost, and is back")
        case (.failed, .whileItRuns):
            violate(.allOrNothing, "write \(mark) has failed, and is there")
        case (.committed, _): kept(.committedIsCommitted)
        case (.open, _), (.failed, _): break
        }
    }

    private mutating func checkAbsence(
        of mark: Int,
        _ commit: CommitNumber,
        _ lastKept: CommitNumber,
        _ look: Look
    ) {
        guard let write = writes[mark] else { return }
        switch (write.answer, look) {
        case (.undone, _): kept(.allOrNothing)
        case (_, .afterRestore):
            lostPlaces.formUnion(write.changes.keys)
            writes[mark]?.answer = .lost
        case (.committed, .afterPowerCut) where !write.isSynced:
            expect(
                .relaxedLosesTheNewest,
                write.commit >= lastKept,
                "write \(mark) of commit \(write.commit) is gone, later ones are not"
            )
            writes[mark]?.answer = .lost
        case (.committed, _) where write.commit <= commit || look != .whileItRuns:
            violate(
                .committedIsCommitted,
                "write \(mark) of commit \(write.commit) was acknowledged, and is gone"
            )
        case (.open, .afterKill), (.open, .afterPowerCut), (.failed, .afterKill),
            (.failed, .afterPowerCut):
            writes[mark]?.answer = .lost
        default: break
        }
    }

    /// Forgets a hold that a transaction takes back or replaces, also in the chores whose answers have not
    /// come: the transaction runs after theirs.
    mutating func forgetHold(of id: OperationID, _ context: String) {
        holds[id]?[context] = nil
        for chore in pending.keys {
            pending[chore]?.removeAll { $0.0 == id && $0.1 == context }
        }
    }

    /// A launch was answered: everything up to this commit is on the disk.
    mutating func synced(through commit: CommitNumber) {
        for (mark, write) in writes where write.answer == .committed && write.commit <= commit {
            writes[mark]?.isSynced = true
        }
    }

    /// Holds what a launch is told of new commits against what they were.
    mutating func check(_ changes: ChangeSet, marks: [Int: CommitNumber], toldTo launch: Int) {
        if let last = told[launch] {
            expect(
                .changesHaveNoGap,
                changes.first == last.next,
                "after commit \(last) launch \(launch) is told of \(changes.first)"
            )
        }
        told[launch] = changes.last
        if changes.isReset { return }
        let before = objects(after: marks, through: changes.first.previous)
        let after = objects(after: marks, through: changes.last)
        for key in Set(before.keys).union(after.keys).union(changes.keys) where key.isOfModel {
            let isInserted = before[key] == nil && after[key] != nil
            let isRemoved = before[key] != nil && after[key] == nil
            let isUpdated = before[key] != nil && after[key] != nil && before[key] != after[key]
            expect(
                .changesAreNet,
                changes.inserted.contains(key) == isInserted
                    && changes.removed.contains(key) == isRemoved
                    && (!isUpdated || changes.updated.contains(key)),
                "commits \(changes.first)...\(changes.last) did not do that to \(key)"
            )
        }
    }
}

extension ObjectKey {
    /// Whether the books know what the object must be.
    var isOfModel: Bool { collection == App.notes.name || collection == App.labels.name }
}
