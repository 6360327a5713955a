#if Server
internal import Foundation

/// What tells that a file has changed, or that another one has taken its place, without reading it.
struct FileStamp: Equatable {
    private let changed: Date
    let size: Int
    private let number: Int
    private let path: String
    let isRegularFile: Bool

    /// - Parameter path: The path of a file, or of a link to it.
    init?(_ path: String) {
        self.path = URL(filePath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: self.path),
            let changed = attributes[.modificationDate] as? Date,
            let size = attributes[.size] as? Int,
            let number = attributes[.systemFileNumber] as? Int
        else { return nil }
        (self.changed, self.size, self.number) = (changed, size, number)
        isRegularFile = attributes[.type] as? FileAttributeType == .typeRegular
    }

    /// Whether a second change may have left the time as it is: clocks of file systems are coarse.
    func isRecent(at now: Date) -> Bool { abs(now.timeIntervalSince(changed)) < 2 }
}
#endif
