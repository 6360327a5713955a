public import Foundation
public import GodwitTree

/// An operation that waits in CloudCore's queue, as its row and its archive say.
public struct YapCloudOperation: Sendable {
    /// What the archive of an operation says.
    public struct Outline: Sendable {
        public var uuid: UUID
        public var priority: Int32
        public var dependencies: [UUID]
        /// CloudCore's `persistentUserInfo`.
        public var userInfo: Value
        /// The app's class; nil where that is not known.
        public var className: String?
        /// All that the operation has encoded, by its keys.
        public var fields: Value

        /// For an app with a serializer of its own.
        public init(
            uuid: UUID,
            priority: Int32 = 0,
            dependencies: [UUID] = [],
            userInfo: Value = .null,
            className: String? = nil,
            fields: Value = .null
        ) {
            self.uuid = uuid
            self.priority = priority
            self.dependencies = dependencies
            self.userInfo = userInfo
            self.className = className
            self.fields = fields
        }
    }

    public let outline: Outline
    /// The name of its pipeline.
    public let pipeline: String
    /// The commit of YapDatabase that enqueued it: its graph.
    public let snapshot: Int64
    /// Its row in the queue's table.
    public let row: Int64
    /// What was stored.
    public let bytes: [UInt8]

    public var uuid: UUID { outline.uuid }
    public var className: String? { outline.className }
    public var fields: Value { outline.fields }
    public var userInfo: Value { outline.userInfo }
}

extension YapCloudOperation.Outline {
    /// Reads what CloudCore's default serializer has archived.
    ///
    /// - Throws: ``YapDatabaseError/unreadableData(reason:)``.
    public init(keyedArchive bytes: [UInt8]) throws(YapDatabaseError) {
        let archive = try KeyedArchive(bytes)
        guard let uuid = archive.root["uuid"]?.text.flatMap({ UUID(uuidString: $0) }) else {
            throw .unreadableData(reason: "the operation has no uuid")
        }
        guard let priority = Int32(exactly: archive.root["priority"]?.integer ?? 0) else {
            throw .unreadableData(reason: "the operation's priority is none")
        }
        var dependencies: [UUID] = []
        for item in archive.root["dependencies"]?.list ?? [] {
            guard let dependency = item.text.flatMap({ UUID(uuidString: $0) }) else {
                throw .unreadableData(reason: "a dependency of the operation is no uuid")
            }
            // CloudCore ignores an operation that depends on itself.
            if dependency != uuid { dependencies.append(dependency) }
        }
        self.init(
            uuid: uuid,
            priority: priority,
            dependencies: dependencies.sorted { $0.uuidString < $1.uuidString },
            userInfo: archive.root["persistentUserInfo"] ?? .null,
            className: archive.className,
            fields: archive.root
        )
    }
}
