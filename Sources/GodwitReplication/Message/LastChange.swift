/// Which client has changed an object last, as the server says.
///
/// ```swift
/// let changes = try await connector.lastChanges(of: [items.place("milk")], in: "shopping")
/// ```
///
/// A client is a device, or a page in a browser. To show people instead, keep an object for each device in
/// the replica, and name it by the device's ``ReplicaStatus/client``.
public struct LastChange: Hashable, Sendable {
    public let client: ClientID
    /// The serial of the state in which the object came to be what it is.
    public let serial: Int64
    /// When that was, by the server's calendar.
    package let millisecondsSince1970: Int64

    package init(client: ClientID, serial: Int64, millisecondsSince1970: Int64) {
        (self.client, self.serial) = (client, serial)
        self.millisecondsSince1970 = millisecondsSince1970
    }
}
