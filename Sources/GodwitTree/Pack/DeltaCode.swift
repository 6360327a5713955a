// A delta as bytes.
//
// What a node begins with says what it is. Bytes that begin a canonical value stand for that
// value: the place is set to it. The others are CBOR's tags, which no value uses:
//
//   c0        keep; within a packed value, the model's scalar
//   c1        remove, in the place of a key's change
//   c2 n      increment by n, zigzag
//   c3 k …    text: k splices of (gap, removed, size of the text, text)
//   c4 …      packed: a map with the keys of its model, the values in their order
//   c5 m x …  packed: a map with some keys of its model (m: a bit for each, the first lowest),
//             the values of these in order, then x more pairs of key and value
//   c6 k …    map: k changes, each a key and a node
//   c8 … cf   map: 1 to 8 changes
//   d0 | parts  list; the low bits say which parts follow: 1 removes, 2 edits, 4 moves, 8 inserts
//
// Each part of a list begins with its count. Places ascend and are written as the gap behind the
// one before; where a place may begin a run, the gap is shifted by one bit, and the bit says that
// a count follows. Numbers are LEB128, in the fewest bytes.
//
// There are two forms. The canonical one is for itself: it is stored, and equal deltas have equal
// bytes. The packed one is for a peer that has the base: keys are numbered by their place in the
// base's map (0 is for a key that is spelled out), and values may leave out what they share with
// their model: of a value that is set, the old one; of an item that is inserted, the base's item
// at that place; of an item in a list that is new, the one before it.

enum DeltaCode {
    /// The first byte of the canonical form; nothing else that is stored begins with it.
    static let canonical: UInt8 = 0xc2
    static let packed: UInt8 = 0xc3
    /// A frame of zstd with one of the forms above in it.
    static let compressed: UInt8 = 0xc4
    /// The same, with the base's canonical bytes as the frame's prefix.
    static let compressedOnBase: UInt8 = 0xc5

    static let keep: UInt8 = 0xc0
    static let remove: UInt8 = 0xc1
    static let increment: UInt8 = 0xc2
    static let text: UInt8 = 0xc3
    static let shape: UInt8 = 0xc4
    static let partialShape: UInt8 = 0xc5
    static let map: UInt8 = 0xc6
    static let shortMap: UInt8 = 0xc8
    static let shortMapMax = 8
    static let list: UInt8 = 0xd0

    struct Parts: OptionSet {
        let rawValue: UInt8
        static let removes = Parts(rawValue: 1)
        static let edits = Parts(rawValue: 2)
        static let moves = Parts(rawValue: 4)
        static let inserts = Parts(rawValue: 8)
    }

    /// The longest scalar, in canonical bytes, that may stand for itself by its model's place: a
    /// few bytes must not unfold to very many.
    static let modelMaxInBytes = 64
}

extension Delta {
    /// The one encoding of this delta, in which it is stored.
    public var canonicalBytes: [UInt8] {
        var writer = DeltaWriter(isPacked: false)
        writer.bytes.append(DeltaCode.canonical)
        writer.write(self, nil)
        return writer.bytes
    }

    /// Reads a delta from its canonical bytes, and refuses every other encoding of it.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)``,
    ///   ``TreeError/invalidDelta(reason:)``, ``TreeError/tooDeep(limit:)`` or
    ///   ``TreeError/overBudget(_:limit:)``.
    public init(
        canonicalBytes bytes: [UInt8],
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        var meter = ReadMeter(budget)
        try self.init(canonicalBytes: bytes, meter: &meter)
    }

    init(canonicalBytes bytes: [UInt8], meter: inout ReadMeter) throws(TreeError) {
        guard bytes.first == DeltaCode.canonical else {
            throw .malformed(format: .delta, offset: 0, reason: "this is not a canonical delta")
        }
        var reader = DeltaReader(bytes, isPacked: false, meter: meter)
        self = try reader.readAll(nil)
        meter = reader.meter
        guard canonicalBytes == bytes else {
            throw .malformed(format: .delta, offset: 0, reason: "the delta is not in normal form")
        }
    }
}
