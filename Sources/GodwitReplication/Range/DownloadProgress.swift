/// How far a download of many objects has come.
///
/// ```swift
/// for await status in connector.statuses(of: replica.name) {
///     progressView.progress = status.download?.fractionCompleted ?? 1
/// }
/// ```
public struct DownloadProgress: Hashable, Sendable {
    /// How many objects the device has got.
    public let completedCount: Int
    /// How many there are, as far as it is known.
    public let totalCount: Int

    /// The part that is done, from 0 to 1.
    public var fractionCompleted: Double {
        totalCount > 0 ? Double(completedCount) / Double(totalCount) : 0
    }
}
