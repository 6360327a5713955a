import Foundation
import GRDB
import GodwitTestKit

/// A file as YapDatabase writes it, with the tables of its published schema.
struct YapFile {
    enum Extension: Equatable {
        /// None, or CloudCore of some version of its tables.
        case none
        case cloudCore(version: Int)
    }

    let path: String
    let queue: DatabaseQueue

    init(
        _ path: String,
        _ cloudCore: Extension = .cloudCore(version: 3),
        name: String = "cloud"
    ) throws {
        self.path = path
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE "yap2" ("extension" CHAR NOT NULL, "key" CHAR NOT NULL,
                        "data" BLOB, PRIMARY KEY ("extension", "key"));
                    CREATE TABLE "database2" ("rowid" INTEGER PRIMARY KEY,
                        "collection" CHAR NOT NULL, "key" CHAR NOT NULL, "data" BLOB,
                        "metadata" BLOB);
                    CREATE UNIQUE INDEX "true_primary_key" ON "database2" ("collection", "key");
                    PRAGMA user_version = 3;
                    """
            )
        }
        if case .cloudCore(let version) = cloudCore { try addCloudCore(name, version) }
    }

    func addCloudCore(_ given: String, _ version: Int = 3) throws {
        let name = given.replacing("\"", with: "\"\"")
        let queueTable = "cloudcore_queue\(version == 1 ? "" : "2")_\(name)"
        let pipelineTable = "cloudcore_pipeline\(version < 3 ? "" : "3")_\(name)"
        let algorithm = version < 3 ? "" : ", \"algorithm\" INTEGER NOT NULL DEFAULT 0"
        let graph = version == 1 ? "BLOB NOT NULL, \"prevGraphID\" BLOB" : "INTEGER NOT NULL"
        try write(
            """
            CREATE TABLE "\(pipelineTable)" ("rowid" INTEGER PRIMARY KEY,
                "name" TEXT NOT NULL\(algorithm));
            CREATE TABLE "\(queueTable)" ("rowid" INTEGER PRIMARY KEY, "pipelineID" INTEGER,
                "graphID" \(graph), "operation" BLOB);
            CREATE TABLE "cloudcore_tag_\(name)" ("key" TEXT NOT NULL,
                "identifier" TEXT NOT NULL, "tag" BLOB NOT NULL, PRIMARY KEY ("key", "identifier"));
            CREATE TABLE "cloudcore_mapping_\(name)" ("database_rowid" INTEGER NOT NULL,
                "cloudURI" TEXT NOT NULL);
            INSERT INTO yap2 VALUES ('\(name)', 'classVersion', \(version));
            INSERT INTO "\(pipelineTable)" ("rowid", "name") VALUES (1, 'default'), (2, 'photos');
            """
        )
    }

    /// Runs SQL.
    func write(_ sql: String, _ arguments: StatementArguments = []) throws {
        try queue.write { try $0.execute(sql: sql, arguments: arguments) }
    }

    /// Copies the log into the file.
    func checkpoint() throws {
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    func put(_ collection: String, _ key: String, _ data: Data?, metadata: Data? = nil) throws {
        try write(
            "INSERT INTO database2 (collection, key, data, metadata) VALUES (?, ?, ?, ?)",
            [collection, key, data, metadata]
        )
    }

    func put(_ collection: String, _ key: String, json: String, metadata: String? = nil) throws {
        try put(collection, key, Data(json.utf8), metadata: metadata.map { Data($0.utf8) })
    }

    /// - Parameter pipeline: The row of the pipeline; nil for none.
    func enqueue(_ operation: Data?, graph: Int64, pipeline: Int64? = nil) throws {
        try write(
            """
            INSERT INTO cloudcore_queue2_cloud (pipelineID, graphID, operation) VALUES (?, ?, ?)
            """,
            [pipeline, graph, operation]
        )
    }

    func enqueue(
        _ operation: CloudOperation,
        graph: Int64,
        pipeline: Int64? = nil
    ) throws {
        try enqueue(operation.archived(), graph: graph, pipeline: pipeline)
    }

    /// What a killed app leaves: the file, and a log that was not copied into it.
    func abandoned(in folder: TemporaryFolder) throws -> String {
        let copy = folder.path("abandoned.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return copy
    }
}

/// A subclass of CloudCore's operation, as far as its archive goes.
final class CloudOperation: NSObject, NSCoding {
    static let archivedName = "GodwitYapDatabaseTests.CloudOperation"

    let uuid: UUID
    let priority: Int32
    let dependencies: [UUID]
    let contact: String
    let userInfo: [String: String]?

    init(
        _ contact: String,
        uuid: UUID = UUID(),
        priority: Int32 = 0,
        after dependencies: [UUID] = [],
        userInfo: [String: String]? = nil
    ) {
        self.uuid = uuid
        self.priority = priority
        self.dependencies = dependencies
        self.contact = contact
        self.userInfo = userInfo
    }

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(Int32(1), forKey: "version_base")
        coder.encode(NSUUID(uuidString: uuid.uuidString), forKey: "uuid")
        coder.encode(priority, forKey: "priority")
        let needs = dependencies.compactMap { NSUUID(uuidString: $0.uuidString) }
        coder.encode(needs.isEmpty ? nil : NSSet(array: needs), forKey: "dependencies")
        let pairs = (userInfo ?? [:]).map { (NSString(string: $0), NSString(string: $1)) }
        let dictionary = NSDictionary(objects: pairs.map(\.1), forKeys: pairs.map(\.0))
        coder.encode(userInfo == nil ? nil : dictionary, forKey: "persistentUserInfo")
        coder.encode(NSString(string: contact), forKey: "contactID")
    }

    func archived() -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(self, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return archiver.encodedData
    }
}
