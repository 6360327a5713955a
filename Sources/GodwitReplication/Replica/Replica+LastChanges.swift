public import Foundation
package import GodwitStore
internal import GodwitTree

extension LastChange {
    /// When that was, by the server's calendar; to the millisecond.
    public var date: Date { Date(timeIntervalSince1970: Double(millisecondsSince1970) / 1_000) }
}

/// A question for the clients that have changed some objects last.
package struct LastChangesRequest: Sendable {
    /// How many objects one request asks for at most.
    package static let countMax = WireRequest.askedMax

    private let keys: [ObjectKey]
    /// The message, as the transport carries it.
    package let bytes: [UInt8]

    /// - Precondition: There are no more keys than ``countMax``.
    package init(of keys: some Sequence<ObjectKey>) {
        self.keys = Array(keys)
        precondition(self.keys.count <= Self.countMax, "More objects than one request asks for")
        // Any server reads a message that is not compressed.
        bytes = WireRequest.lastChanges(of: self.keys).frame.bytes(for: [])
    }

    /// Reads the answer.
    ///
    /// - Throws: ``ReplicationError/malformedMessage(reason:)``.
    package func changes(in answer: [UInt8]) throws -> [ObjectKey: LastChange] {
        let frame = try WireFrame(bytes: answer, budget: .standard)
        guard case .lastChanges(let changes) = try WireAnswer(frame), changes.count == keys.count
        else { throw ReplicationError.malformedMessage(reason: "it answers another request") }
        return Dictionary(
            zip(keys, changes).compactMap { key, change in change.map { (key, $0) } },
            uniquingKeysWith: { first, _ in first }
        )
    }
}
