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

extension Store {
    /// What another layer keeps in memory beside this store.
    package func attachment<Object: AnyObject & Sendable>(
        _ make: (Identifiers) -> Object
    ) -> Object {
        context.attachments.get { make(context.identifiers) }
    }

    package var options: Options { context.options }

    package func translated(_ error: any Error) -> any Error { context.translated(error) }
}
