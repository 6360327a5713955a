/// How far a download of many objects has come.
///
/// ```swift
/// for await status in connector.statuses(of: replica.name) {
///     progressView.progress = status.download?.fractionCompleted ?? 1
/// }
/// ```
public struct DownloadProgress: Hashable, Sendable {
    /// How many objects have arrived that differ from the device's, removed ones among them.
    public let completedCount: Int
    /// At least how many there are; it may grow while the comparison goes on.
    public let totalCount: Int

    /// The part that is done, from 0 to 1.
    public var fractionCompleted: Double {
        totalCount > 0 ? Double(completedCount) / Double(totalCount) : 0
    }
}
