import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

/// What two commits do to an object, taken as one.
@Suite struct ChangeSetTests {
    private enum Change: CaseIterable {
        case none, inserted, updated, touched, removed

        /// Whether the object can be there before, and is there after; nil where this cannot happen.
        func isThere(after isThere: Bool) -> Bool? {
            switch self {
            case .none: isThere
            case .inserted: isThere ? nil : true
            case .updated, .touched: isThere ? true : nil
            case .removed: isThere ? false : nil
            }
        }
    }

    private static let key = ObjectKey(collection: "things", key: "a")

    private static func changes(_ change: Change, in commit: Int64) -> ChangeSet {
        ChangeSet(
            commit: CommitNumber(rawValue: commit),
            inserted: change == .inserted ? [key] : [],
            updated: change == .updated ? [key] : [],
            removed: change == .removed ? [key] : [],
            touched: change == .touched ? [key] : []
        )
    }

    @Test func `two change sets are merged into their net effect, whatever they do to an object`()
        throws
    {
        for wasThere in [true, false] {
            for first in Change.allCases {
                guard let between = first.isThere(after: wasThere) else { continue }
                for second in Change.allCases {
                    guard let isThere = second.isThere(after: between) else { continue }
                    var merged = Self.changes(first, in: 1)
                    merged.merge(Self.changes(second, in: 2))
                    let steps = [first, second].filter { $0 != .none }
                    let net: Change =
                        switch (wasThere, isThere) {
                        case (false, true): .inserted
                        case (true, false): .removed
                        case (false, false): .none
                        case (true, true):
                            steps.allSatisfy { $0 == .touched } ? steps.first ?? .none : .updated
                        }
                    let expected = Self.changes(net, in: 1)
                    let says = "\(first), then \(second): \(merged)"
                    #expect(merged.inserted == expected.inserted, "\(says)")
                    #expect(merged.updated == expected.updated, "\(says)")
                    #expect(merged.removed == expected.removed, "\(says)")
                    #expect(merged.touched == expected.touched, "\(says)")
                    #expect(merged.first.rawValue == 1 && merged.last.rawValue == 2)
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a process that follows the others hears of their commits without a read`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        var options = Store.Options()
        options.processes = .several
        let (app, other) = (
            try Store(.file(path), options: options), try Store(.file(path), options: options)
        )
        let clock = ManualClock()
        var heard = other.changes().makeAsyncIterator()
        let following = Task { try await other.followOtherProcesses(clock: clock) }
        let ticking = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(100))
                await Task.yield()
            }
        }
        let numbers = Store.Collection<Int>("numbers")
        for number in 1...3 {
            try await app.write { try $0.set(number, for: "a", in: numbers) }
            let changes = await heard.next(isolation: nil)
            #expect(changes?.last.rawValue == Int64(number))
        }
        ticking.cancel()
        following.cancel()
        try app.close()
        try other.close()
    }
}
