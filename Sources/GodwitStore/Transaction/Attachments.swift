internal import Synchronization

/// What the layers above keep in memory beside a store: one object of each type.
final class Attachments: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    func get<Object: AnyObject & Sendable>(_ make: () -> Object) -> Object {
        objects.withLock { objects in
            if let found = objects[ObjectIdentifier(Object.self)] as? Object { return found }
            let object = make()
            objects[ObjectIdentifier(Object.self)] = object
            return object
        }
    }
}
