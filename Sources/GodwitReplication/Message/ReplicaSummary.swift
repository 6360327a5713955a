/// How a replica stands on its server.
public struct ReplicaSummary: Hashable, Sendable {
    public let epoch: Epoch
    public let head: LineState
    public let objectCount: Int
    /// How many bytes the objects have, with their keys and the names of their collections.
    public let sizeInBytes: Int64
    /// How many states are kept, because clients may have them.
    public let stateCount: Int
    public let clientCount: Int

    package init(
        epoch: Epoch,
        head: LineState,
        objectCount: Int,
        sizeInBytes: Int64,
        stateCount: Int,
        clientCount: Int
    ) {
        self.epoch = epoch
        self.head = head
        self.objectCount = objectCount
        self.sizeInBytes = sizeInBytes
        self.stateCount = stateCount
        self.clientCount = clientCount
    }

    /// How many states a server keeps at most, unless clients are giving back what it had lost.
    ///
    /// Each client has two, the head is one, and each of the last 64 starts of the server found one.
    public static func stateCountMax(clientCount: Int) -> Int {
        2 * clientCount + LineStart.rememberedMax + 1
    }
}
