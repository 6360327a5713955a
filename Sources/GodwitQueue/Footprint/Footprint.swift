// What an operation touches in a cloud, and how.
//
// Two operations have an order if one of them writes what the other one reads or writes. What is
// done to a thing is done below each folder around it, too ("intention locks": J. Gray et al.,
// "Granularity of locks in a shared data base", 1975): so an operation on a whole folder meets those
// on things inside it. For paths this follows from the path, and the index sees to it
// (`FootprintIndex`); where things have identities, touches say it.

/// What an operation reads and writes in its cloud.
///
/// ```swift
/// var footprint: Footprint { .move("/foo", to: "/moo") }
/// ```
///
/// In a pipeline in flat order, and among the operations of one commit, what touches the same
/// things is done in the order in which it was enqueued, and nothing else waits. Two intents, `ahead`
/// and `behind`, say an order of their own: of an avatar before its user, for instance.
public struct Footprint: Hashable, Sendable {
    /// How something is touched.
    public enum Intent: Int64, Hashable, Sendable, CaseIterable {
        case read = 1
        case write = 2
        /// Something below it is read.
        case readBelow = 3
        case writeBelow = 4
        /// It is read with all that is below it.
        case readTree = 5
        case writeTree = 6
        /// The operation goes before all that are `behind` on the same thing, even those that the app
        /// enqueued first.
        case ahead = 7
        /// The operation goes after all that are `ahead` on the same thing.
        case behind = 8

        /// The touches of others with which this one has an order.
        var conflicts: [Intent] {
            switch self {
            case .read: [.write, .writeTree]
            case .write: [.read, .write, .readTree, .writeTree]
            case .readBelow: [.writeTree]
            case .writeBelow: [.readTree, .writeTree]
            case .readTree: [.write, .writeBelow, .writeTree]
            case .writeTree: Self.onPaths
            case .ahead: [.behind]
            case .behind: [.ahead]
            }
        }

        /// The touches below a path with which this one has an order when it takes the path as a whole.
        var conflictsBelow: [Intent] {
            switch self {
            case .readTree: [.write, .writeBelow, .writeTree]
            case .writeTree: Self.onPaths
            case .read, .write, .readBelow, .writeBelow, .ahead, .behind: []
            }
        }

        var isOnPath: Bool { self != .ahead && self != .behind }
        var isReading: Bool { isOnPath && !isWriting }
        var isWriting: Bool { self == .write || self == .writeBelow || self == .writeTree }

        private static let onPaths: [Intent] = [
            .read, .write, .readBelow, .writeBelow, .readTree, .writeTree,
        ]

        /// The earlier touches that this one hides: a later operation that has an order with them
        /// has one with this one too, and this one comes after them.
        var shadows: [Intent] {
            switch self {
            case .write: [.read, .write]
            case .writeTree: Self.onPaths
            case .read, .readBelow, .writeBelow, .readTree, .ahead, .behind: []
            }
        }
    }

    /// Something that is touched, and how.
    public struct Touch: Hashable, Sendable {
        /// Its name; one that begins with `/` is a path, and lies in the folders that the path names.
        public let resource: String
        public let intent: Intent
    }

    public var touches: Set<Touch>

    public init(_ touches: Set<Touch> = []) { self.touches = touches }

    public static let none = Footprint()

    public mutating func touch(_ resource: String, _ intent: Intent) {
        touches.insert(Touch(resource: resource, intent: intent))
    }

    public static func + (left: Footprint, right: Footprint) -> Footprint {
        Footprint(left.touches.union(right.touches))
    }
}

// MARK: - Clouds that address by path

extension Footprint {
    /// Makes a file or a folder, or writes a file.
    public static func put(_ path: RemotePath) -> Footprint { at(path, .write) }

    /// Deletes a file or an empty folder.
    public static func delete(_ path: RemotePath) -> Footprint { at(path, .write) }

    /// Deletes a folder and all that is in it.
    public static func deleteTree(_ path: RemotePath) -> Footprint { at(path, .writeTree) }

    /// Gives something another path, and with it all that is below it.
    public static func move(_ path: RemotePath, to other: RemotePath) -> Footprint {
        at(path, .writeTree) + at(other, .writeTree)
    }

    public static func copy(_ path: RemotePath, to other: RemotePath) -> Footprint {
        at(path, .readTree) + at(other, .writeTree)
    }

    /// Reads one thing: what is written depends on it.
    public static func read(_ path: RemotePath) -> Footprint { at(path, .read) }

    private static func at(_ path: RemotePath, _ intent: Intent) -> Footprint {
        var footprint = Footprint([Touch(resource: "\(path)", intent: intent)])
        // There has to be a folder to put it into.
        if !path.isRoot { footprint.touch("\(path.parent)", .read) }
        return footprint
    }
}

// MARK: - Clouds that address by identity

/// A place in a cloud whose things keep their identity when they move.
public struct RemoteSlot: Hashable, Sendable {
    /// The folders that it lies in, by identity, from the nearest to the root.
    public let folders: [String]
    /// The name within the nearest one.
    public let name: String

    public init(_ name: String, in folders: [String]) {
        self.name = name
        self.folders = folders
    }

    fileprivate var resource: String { "slot \(folders.first ?? "")/\(name)" }
}

extension Footprint {
    /// Makes a node in a slot.
    public static func create(_ node: String, in slot: RemoteSlot) -> Footprint {
        inside(slot, .write) + Footprint([Touch(resource: node, intent: .write)])
    }

    /// Writes what a node holds; where it lies does not matter.
    public static func write(_ node: String, in folders: [String]) -> Footprint {
        var footprint = Footprint([
            Touch(resource: node, intent: .read),
            Touch(resource: "content \(node)", intent: .write),
        ])
        for folder in folders + [node] { footprint.touch(folder, .writeBelow) }
        return footprint
    }

    /// Puts a node into another slot; what is below it comes along and keeps its identity.
    ///
    /// It waits for what is done to things inside: a later deletion of the new folder waits for
    /// the move, and must not come before them.
    public static func move(
        _ node: String,
        from slot: RemoteSlot,
        to other: RemoteSlot
    ) -> Footprint {
        inside(slot, .write) + inside(other, .write)
            + Footprint([
                Touch(resource: node, intent: .readTree),
                Touch(resource: node, intent: .writeBelow),
                Touch(resource: "place \(node)", intent: .write),
            ])
    }

    /// Deletes a node that has nothing below it.
    public static func delete(_ node: String, in slot: RemoteSlot) -> Footprint {
        deleteTree(node, in: slot)
    }

    /// Deletes a node and all that is below it when its turn comes.
    public static func deleteTree(_ node: String, in slot: RemoteSlot) -> Footprint {
        inside(slot, .write) + Footprint([Touch(resource: node, intent: .writeTree)])
    }

    private static func inside(_ slot: RemoteSlot, _ intent: Intent) -> Footprint {
        var footprint = Footprint([Touch(resource: slot.resource, intent: intent)])
        if let folder = slot.folders.first { footprint.touch(folder, .read) }
        for folder in slot.folders { footprint.touch(folder, .writeBelow) }
        return footprint
    }
}

// Names are compared by their bytes, as the order of operations is.
extension Footprint.Touch: Comparable {
    public static func == (left: Footprint.Touch, right: Footprint.Touch) -> Bool {
        left.intent == right.intent && left.resource.utf8.elementsEqual(right.resource.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: resource)
        hasher.combine(intent)
    }

    public static func < (left: Footprint.Touch, right: Footprint.Touch) -> Bool {
        guard left.resource.utf8.elementsEqual(right.resource.utf8) else {
            return left.resource.utf8.lexicographicallyPrecedes(right.resource.utf8)
        }
        return left.intent.rawValue < right.intent.rawValue
    }
}

extension Footprint {
    /// A thing of a collection that other operations have an ``Effect`` on.
    public static func thing(
        _ name: String,
        of collection: String,
        _ intent: Intent
    ) -> Footprint {
        // With its length, the collection ends where it ends.
        let resource = "thing \(collection.utf8.count) \(collection) \(name)"
        return Footprint([Touch(resource: resource, intent: intent)])
    }

    /// Something of the app's, by a name of its choice, that is read or written.
    public static func resource(_ name: String, _ intent: Intent = .write) -> Footprint {
        Footprint([Touch(resource: "app \(name)", intent: intent)])
    }
}
