#if Server
internal import Foundation
internal import GodwitStore
internal import Logging

/// The file of a key set, which is read again when it has changed.
///
/// A file that cannot be read, or has no key set any more, leaves the last good one as it was.
actor TokenKeyFile: TokenKeySource {
    private let path: String
    private let logger: Logger
    private let now: @Sendable () -> Date
    private var current: TokenKeySet
    private var stamp: FileStamp?
    private var bytes: [UInt8]
    /// Why the file could not be read at the last look: a right to read it leaves no stamp.
    private var fault: String?

    static let sizeMax = 1 << 20

    /// - Throws: ``AccessError/unusableKeySet(path:reason:)``.
    init(
        _ path: String,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) async throws(AccessError) {
        stamp = FileStamp(path)
        do throws(TokenKeySet.Fault) {
            bytes = try Self.read(path)
            current = try await TokenKeySet(bytes)
        } catch {
            throw .unusableKeySet(path: path, reason: error.description)
        }
        (self.path, self.now, self.logger) = (path, now, logger)
    }

    /// The keys as the file has them now.
    func keys(for _: String) async -> TokenKeySet {
        let found = FileStamp(path)
        guard found != stamp || found?.isRecent(at: now()) ?? false || fault != nil else {
            return current
        }
        do throws(TokenKeySet.Fault) {
            let read = try Self.read(path)
            fault = nil
            guard read != bytes else {
                stamp = found
                return current
            }
            // A set that is no good is told once.
            (stamp, bytes) = (found, read)
            let keys = try await TokenKeySet(read)
            // Another request may have read a newer one meanwhile.
            guard bytes == read else { return current }
            current = keys
            logger.info("the key set was read again", metadata: ["path": "\(path)"])
        } catch {
            let isKnown = fault == error.description && found == stamp
            (stamp, fault) = (found, error.description)
            if isKnown { return current }
            let metadata: Logger.Metadata = ["path": "\(path)", "error": "\(error)"]
            logger.error("the key set cannot be used; the last good one stays", metadata: metadata)
        }
        return current
    }

    private static func read(_ path: String) throws(TokenKeySet.Fault) -> [UInt8] {
        // A pipe would be waited for.
        guard let stamp = FileStamp(path), stamp.isRegularFile else {
            throw TokenKeySet.Fault(description: "it cannot be read")
        }
        guard stamp.size <= sizeMax else {
            throw TokenKeySet.Fault(description: "it has more than \(sizeMax) bytes")
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw TokenKeySet.Fault(description: "it cannot be read")
        }
        return Array(data)
    }
}
#endif
