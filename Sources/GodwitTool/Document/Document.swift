import GodwitTree

/// A JSON text as it is written: the order of its keys, its white space, and how its numbers and
/// strings are spelt.
///
/// A ``Value`` keeps none of this. A document knows its value and where in the text each part of
/// it stands, so that a ``DocumentWriter`` can write a changed value and reuse the text of all
/// that did not change. A byte order mark and white space around the value belong to the text.
struct Document {
    let bytes: [UInt8]
    let root: Node
    let value: Value
    let layout: Layout
    /// Where the lines begin, but the first.
    private let lines: [Int]

    /// What a document may take: 4 GiB, or some ten million numbers.
    static let budget = ReadBudget(memoryMax: 1 << 32)

    /// Reads strict JSON, but with a byte order mark, numbers of any size (``Numeral``) and strings
    /// with half of a surrogate pair (``HalfText``).
    ///
    /// - Throws: What `Value(json:)` throws; a key that occurs twice is a fault where it is the
    ///   second time.
    init(
        _ bytes: [UInt8],
        depthMax: Int = Value.depthMax,
        budget: ReadBudget = Document.budget
    ) throws(TreeError) {
        var reader = DocumentReader(bytes: bytes, depthMax: depthMax, budget: budget)
        (root, value) = try reader.readDocument()
        self.bytes = bytes
        lines = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        layout = Layout(of: root, in: bytes)
    }

    /// What stands before the value.
    var head: ArraySlice<UInt8> { bytes[..<root.range.lowerBound] }

    /// What stands behind the value.
    var tail: ArraySlice<UInt8> { bytes[root.range.upperBound...] }
}

extension Document {
    /// A value in the text.
    struct Node {
        let range: Range<Int>
        let content: Content

        var members: [Member] {
            switch content {
            case .scalar: []
            case .list(let members), .map(let members): members
            }
        }
    }

    enum Content {
        case scalar
        case list([Member])
        case map([Member])
    }

    /// An item of a list, or an entry of a map, with the white space around it.
    struct Member {
        /// The white space behind the bracket or the comma.
        let before: Range<Int>
        /// The key of an entry; nil for an item.
        let key: Key?
        /// Where the key is written.
        let name: Range<Int>
        /// The colon, with the white space on both sides.
        let colon: Range<Int>
        let node: Node
        /// The white space before the next comma or the closing bracket.
        let after: Range<Int>
    }

    /// The white space at the beginning of the line on which a node begins.
    func indent(of node: Node) -> ArraySlice<UInt8> {
        let (end, after) = (
            node.range.lowerBound, lines.partitioningIndex(of: node.range.lowerBound)
        )
        let start = after == 0 ? 0 : lines[after - 1]
        return bytes[start..<end].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }
}

extension [Int] {
    /// How many of these ascending numbers are at most `limit`.
    fileprivate func partitioningIndex(of limit: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] <= limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
