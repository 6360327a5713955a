internal import Synchronization

/// Tells the layers above that other processes have committed, before any later commit of this
/// process is made known.
///
/// Change sets tell of it too, but later: a task has to receive them first.
final class Neighbours: Sendable {
    typealias Listener = @Sendable (_ commits: ClosedRange<CommitNumber>) -> Void

    private let listeners = Mutex<[ObjectIdentifier: Listener]>([:])

    func set(_ listener: Listener?, of owner: AnyObject) {
        listeners.withLock { $0[ObjectIdentifier(owner)] = listener }
    }

    func committed(_ commits: ClosedRange<CommitNumber>) {
        for listener in listeners.withLock({ Array($0.values) }) { listener(commits) }
    }
}
