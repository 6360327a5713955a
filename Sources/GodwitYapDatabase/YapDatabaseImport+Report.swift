public import Foundation

extension YapDatabaseImport {
    /// What an import has brought, and what it has left out.
    public struct Report: Hashable, Sendable {
        /// How many left out things are named; the counts go on beyond it.
        public static let detailsMax = 10_000

        /// How many objects of a collection there were, by what became of them.
        public struct ObjectCount: Hashable, Sendable {
            public var imported = 0
            /// The store had them already.
            public var kept = 0
            /// The decoder returned nil.
            public var declined = 0
            public var leftOut = 0
            /// Objects that are imported without their metadata.
            public var withoutMetadata = 0
        }

        /// An object that could not be decoded, or that the store does not take.
        public struct LeftOutObject: Hashable, Sendable {
            public let collection: String
            public let key: String
            /// Whether only the metadata is left out.
            public let isMetadata: Bool
            public let reason: String
        }

        /// How many operations there were, by what became of them.
        public struct OperationCount: Hashable, Sendable {
            public var enqueued = 0
            /// An earlier import has enqueued them.
            public var known = 0
            /// The app's translation returned nil.
            public var declined = 0
            public var leftOut = 0
            /// They wait in the file, for there was no translation.
            public var waiting = 0
            /// Dependencies that would close circles.
            public var droppedDependencies = 0
        }

        /// An operation that could not be read or translated.
        public struct LeftOutOperation: Hashable, Sendable {
            /// Its row in CloudCore's table.
            public let row: Int64
            /// Its name; nil where that cannot be read.
            public let uuid: UUID?
            public let pipeline: String
            public let reason: String
            /// The operations that depended on it, and do not any more; so many are named in all as
            /// ``Report/detailsMax`` says.
            public internal(set) var dependents: [UUID] = []
        }

        /// A dependency that would close a circle.
        public struct DroppedDependency: Hashable, Sendable {
            public let operation: UUID
            public let need: UUID
        }

        /// How many tags, or attachments, there were.
        public struct CloudCount: Hashable, Sendable {
            public var imported = 0
            /// The store had them already.
            public var kept = 0
            /// The store does not take such a tag, or does not have the object.
            public var leftOut = 0
        }

        /// The objects, by the name that the collection has in YapDatabase.
        public internal(set) var objects: [String: ObjectCount] = [:]
        public internal(set) var leftOutObjects: [LeftOutObject] = []
        public internal(set) var operations = OperationCount()
        public internal(set) var leftOutOperations: [LeftOutOperation] = []
        public internal(set) var droppedDependencies: [DroppedDependency] = []
        public internal(set) var tags = CloudCount()
        /// Attachments of collections that are not imported, and of objects that the app declined, are
        /// not counted.
        public internal(set) var attachments = CloudCount()

        /// How many dependents the left out operations name.
        var dependentCount = 0

        /// Whether all that the file holds of the wanted parts is in the store, or was declined.
        public var isComplete: Bool {
            objects.values.allSatisfy { $0.leftOut == 0 && $0.withoutMetadata == 0 }
                && operations.leftOut == 0 && operations.waiting == 0 && tags.leftOut == 0
                && attachments.leftOut == 0 && operations.droppedDependencies == 0
        }

        /// The sum over all collections.
        public var objectTotal: ObjectCount {
            objects.values.reduce(into: ObjectCount()) { total, count in
                total.imported += count.imported
                total.kept += count.kept
                total.declined += count.declined
                total.leftOut += count.leftOut
                total.withoutMetadata += count.withoutMetadata
            }
        }
    }
}

extension YapDatabaseImport.Report {
    mutating func leaveOut(_ object: LeftOutObject) {
        if object.isMetadata {
            objects[object.collection, default: ObjectCount()].withoutMetadata += 1
        } else {
            objects[object.collection, default: ObjectCount()].leftOut += 1
        }
        if leftOutObjects.count < Self.detailsMax { leftOutObjects.append(object) }
    }

    mutating func leaveOut(_ operation: LeftOutOperation) {
        operations.leftOut += 1
        if leftOutOperations.count < Self.detailsMax { leftOutOperations.append(operation) }
    }

    mutating func drop(_ dependency: DroppedDependency) {
        operations.droppedDependencies += 1
        if droppedDependencies.count < Self.detailsMax { droppedDependencies.append(dependency) }
    }

    /// - Parameter index: Which of the left out operations it depended on; it may be one that is not named.
    mutating func note(dependent: UUID, ofLeftOut index: Int) {
        guard leftOutOperations.indices.contains(index), dependentCount < Self.detailsMax else {
            return
        }
        dependentCount += 1
        leftOutOperations[index].dependents.append(dependent)
    }
}
