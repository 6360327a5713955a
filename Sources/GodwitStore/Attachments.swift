package import GRDB
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

    /// Runs `body` on the connection that writes, between two commits: everybody knows of the last
    /// one, and the next one waits.
    package func betweenCommits<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        let context = context
        return try await database.writeWithoutTransaction { database in
            do {
                return try body(database)
            } catch {
                throw context.translated(error)
            }
        }
    }

    package var options: Options { context.options }

    package func translated(_ error: any Error) -> any Error { context.translated(error) }
}
