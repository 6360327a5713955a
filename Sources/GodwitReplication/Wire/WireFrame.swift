internal import GodwitTree

// A message of version 3:
//
//     version   1 byte; in every version the first one
//     kind      1 byte: 6 bits that say which message it is, and two flags
//     body      the fields of the message, compressed if a flag says so
//     seal      the first 4 bytes of a digest of all before it; in every version the last ones

/// What a peer can do with a message.
struct WireFeatures: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    /// The sender reads messages that are compressed.
    static let readsZstd = WireFeatures(rawValue: 0x80)

    /// What this build can do.
    static let own: WireFeatures = Zstandard.isAvailable ? .readsZstd : []
}

/// A message between a device and its server, in the form in which it is sent.
struct WireFrame: Hashable, Sendable {
    static let version: UInt8 = 3
    /// Less than this is not worth a compression.
    static let compressedMin = 512

    private static let kindMask: UInt8 = 0x3F
    private static let isCompressed: UInt8 = 0x40
    private static let sealSizeInBytes = 4
    private static let headSizeInBytes = 2

    let kind: UInt8
    let body: [UInt8]
    /// What the sender can read.
    var features = WireFeatures.own
    /// What the body's reader may spend, on all of its fields together.
    private(set) var budget = ReadBudget.standard
    /// What the reader spends, as far as the sender knows.
    let readCost: Int

    /// - Parameter readCost: nil for what a body of the size costs at most.
    init(kind: UInt8, body: [UInt8], readCost: Int? = nil) {
        self.kind = kind
        self.body = body
        self.readCost = readCost ?? WireCost.most(body.count)
    }
}

/// What the fields of a message take in memory while they are read.
enum WireCost {
    /// An object's entry, besides a long key and what it is: a server keeps it in several sets.
    static let entry = 768

    /// What a name takes that stands in a message.
    static func text(_ sizeInBytes: Int) -> Int { ReadCost.bytes(sizeInBytes) }

    /// What canonical bytes take at most when they are read: lists in each other cost most.
    static func most(_ sizeInBytes: Int) -> Int { 128 * sizeInBytes }

    /// What a server spends on a request of a size.
    ///
    /// A few bytes may stand for very much, if they are compressed, and there are many clients.
    static func budget(forRequestOf sizeInBytes: Int) -> ReadBudget {
        var budget = ReadBudget.standard
        let memory = 1 << 25 + budget.unfoldingMax * min(sizeInBytes, 1 << 30)
        budget.memoryMax = min(budget.memoryMax, memory)
        return budget
    }
}

extension WireFrame {
    /// The bytes of the message.
    ///
    /// A body that the receiver would take for a bomb is not compressed.
    ///
    /// - Parameter peer: What the receiver can read.
    func bytes(for peer: WireFeatures) -> [UInt8] {
        var (kind, content) = (kind | features.rawValue, body)
        if peer.contains(.readsZstd), body.count >= Self.compressedMin,
            let compressed = Zstandard.compressed(body, level: 3),
            2 * body.count + readCost <= WireCost.budget(forRequestOf: compressed.count).memoryMax
        {
            kind |= Self.isCompressed
            content = compressed
        }
        let bytes = [Self.version, kind] + content
        return bytes + Self.seal(of: bytes)
    }

    /// Reads a message.
    ///
    /// - Parameter budget: How much memory the message may take, with all of its fields.
    /// - Throws: ``ReplicationError/damagedMessage``, ``ReplicationError/senderIsOlder(version:known:)``,
    ///   ``ReplicationError/senderIsNewer(version:known:)``,
    ///   ``ReplicationError/malformedMessage(reason:)``, ``ReplicationError/overBudget(reason:)``.
    init(bytes: [UInt8], budget: ReadBudget) throws(ReplicationError) {
        let content = bytes.dropLast(Self.sealSizeInBytes)
        guard content.count >= Self.headSizeInBytes,
            Array(bytes.suffix(Self.sealSizeInBytes)) == Self.seal(of: Array(content))
        else { throw .damagedMessage }
        let (version, known) = (Int64(bytes[0]), Int64(Self.version))
        if version < known { throw .senderIsOlder(version: version, known: known) }
        if version > known { throw .senderIsNewer(version: version, known: known) }
        readCost = 0
        self.budget = budget
        kind = bytes[1] & Self.kindMask
        features = WireFeatures(rawValue: bytes[1]).intersection(.readsZstd)
        let packed = Array(content.dropFirst(Self.headSizeInBytes))
        guard bytes[1] & Self.isCompressed != 0 else {
            body = packed
            return
        }
        do throws(TreeError) {
            body = try Zstandard.decompressed(packed, budget: budget)
            self.budget.memoryMax -= body.count
        } catch {
            if case .overBudget = error { throw ReplicationError(refusing: error) }
            throw .malformedMessage(reason: error.description)
        }
    }

    private static func seal(of bytes: [UInt8]) -> [UInt8] {
        Array(ContentDigest(of: [bytes], purpose: "godwit message 3").bytes.prefix(sealSizeInBytes))
    }
}
