public import GodwitStore

// How operations on one thing come to one: an algebra.
//
// An effect is a partial function on the state of one thing of a cloud, which is either nowhere or
// at a place with some content. Two effects, one after the other, are sometimes one effect again,
// sometimes nothing at all, and otherwise they stay two. Laws, proved by exhaustion in the tests:
//
//   (1) Where both can be done in a row, what they come to can be done as well, and leaves the
//       same state.
//   (2) What they come to does not depend on where one sets the brackets, as long as it comes to
//       one effect or none.
//   (3) Nothing is sent twice: a write adds nothing to a write or to a creation that is yet to
//       come, for what is pushed is what is there when the operation runs.

/// What an operation does to the one thing in the cloud that it is about.
///
/// ```swift
/// struct UploadContact: PushOperation {
///     static let kind = "upload-contact"
///     let contact: String
///     var effect: Effect? { .write(contact, of: "contacts") }
/// }
/// ```
///
/// Operations that say so have an order with all others on the same thing. And while the first is
/// not started yet, a second one is merged into it: ten edits without a network are one upload,
/// and a contact that was made and deleted again is none. Then the content must not be part of the
/// operation, but be read when it runs.
///
/// The name of one that was merged stays good: dependencies, holds and receipts that name it mean
/// the one that does its work.
public struct Effect: Hashable, Sendable, Codable {
    public enum Action: Hashable, Sendable, Codable {
        /// Creates the thing at a place; its content is read when the operation runs.
        case create(at: String)
        /// Writes the content of a thing that stays where it is.
        case write
        /// Moves the thing to another place; its content stays.
        case move(from: String, to: String)
        /// Deletes the thing from its place.
        case delete(at: String)
    }

    /// The kind of thing, such as customers; names are unique within it.
    public let collection: String
    /// The name of the thing, which it keeps when it moves.
    public let thing: String
    public let action: Action

    public init(_ thing: String, of collection: String, _ action: Action) {
        self.thing = thing
        self.collection = collection
        self.action = action
    }

    /// - Parameters:
    ///   - thing: What is made: an id, or a path.
    ///   - collection: The kind of thing.
    ///   - place: Where it will be; the same for all in a cloud without places.
    public static func create(
        _ thing: some StoreKey,
        of collection: String,
        at place: String = ""
    ) -> Effect {
        Effect(thing.storeKey, of: collection, .create(at: place))
    }

    public static func write(_ thing: some StoreKey, of collection: String) -> Effect {
        Effect(thing.storeKey, of: collection, .write)
    }

    public static func move(
        _ thing: some StoreKey,
        of collection: String,
        from place: String,
        to other: String
    ) -> Effect {
        Effect(thing.storeKey, of: collection, .move(from: place, to: other))
    }

    public static func delete(
        _ thing: some StoreKey,
        of collection: String,
        at place: String = ""
    ) -> Effect {
        Effect(thing.storeKey, of: collection, .delete(at: place))
    }
}

extension Effect {
    /// What two effects come to.
    public enum Sum: Hashable, Sendable {
        case nothing
        case one(Effect)
        /// They have to be done one after the other.
        case two
    }

    /// What this effect and a later one come to.
    public func then(_ later: Effect) -> Sum {
        guard thing == later.thing, collection == later.collection else { return .two }
        switch (action, later.action) {
        case (.create, .write), (.write, .write): return .one(self)
        case (.write, .delete): return .one(later)
        case (.create(let place), .move(let start, let end)) where place == start:
            return .one(with(.create(at: end)))
        case (.create(let place), .delete(let end)) where place == end: return .nothing
        case (.move(let first, let middle), .move(let start, let last)) where middle == start:
            return first == last ? .nothing : .one(with(.move(from: first, to: last)))
        case (.move(let first, let last), .delete(let end)) where last == end:
            return .one(with(.delete(at: first)))
        case (.delete(let place), .create(let start)) where place == start:
            return .one(with(.write))
        default: return .two
        }
    }

    private func with(_ action: Action) -> Effect { Effect(thing.storeKey, of: collection, action) }
}
