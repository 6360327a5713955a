internal import Synchronization

/// A reference that is set once, after it was handed out; it does not keep its object alive.
final class Deferred<Object: AnyObject & Sendable>: Sendable {
    private struct Weak: Sendable {
        weak var object: Object?
    }

    private let reference = Mutex(Weak())

    var value: Object? { reference.withLock { $0.object } }

    func set(_ object: Object) { reference.withLock { $0 = Weak(object: object) } }
}
