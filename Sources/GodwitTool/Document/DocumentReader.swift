import GodwitTree

/// Reads the parts of a JSON text and where they stand.
///
/// Strings and words are read by `Value(json:)`, so that both readers accept the same; but here a
/// value, not a key, may hold half of a surrogate pair.
struct DocumentReader {
    private let bytes: [UInt8]
    private let depthMax: Int
    private var offset = 0
    private var meter: ReadMeter

    /// A member in an array that grows.
    private static let memberCost = 240

    init(bytes: [UInt8], depthMax: Int, budget: ReadBudget) {
        self.bytes = bytes
        self.depthMax = depthMax
        meter = ReadMeter(budget)
    }

    mutating func readDocument() throws(TreeError) -> (Document.Node, Value) {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { offset = 3 }
        _ = skipSpace()
        let root = try readNode(depthLeft: depthMax)
        _ = skipSpace()
        guard offset == bytes.count else { throw fault("there is more after the value") }
        return root
    }

    private mutating func readNode(depthLeft: Int) throws(TreeError) -> (Document.Node, Value) {
        switch next {
        case nil: throw fault("the input ends too early")
        case UInt8(ascii: "{")?: try readMap(depthLeft: depthLeft)
        case UInt8(ascii: "[")?: try readList(depthLeft: depthLeft)
        case UInt8(ascii: "\"")?: try readScalar(to: endOfString())
        case UInt8(ascii: "-")?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?: try readNumber()
        case (UInt8(ascii: "a")...UInt8(ascii: "z"))?: try readScalar(to: endOfWord())
        default: throw fault("no value begins like this")
        }
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private func fault(_ reason: String, at place: Int? = nil) -> TreeError {
        .malformed(format: .json, offset: place ?? offset, reason: reason)
    }
}

// MARK: - Containers

extension DocumentReader {
    private mutating func readMap(depthLeft: Int) throws(TreeError) -> (Document.Node, Value) {
        var entries: [Key: Value] = [:]
        let node = try readContainer(to: "}", depthLeft: depthLeft) { reader throws(TreeError) in
            let start = reader.offset
            guard reader.next == UInt8(ascii: "\"") else {
                throw reader.fault("a key was expected")
            }
            guard case .string(let key) = try reader.readScalar(to: reader.endOfString()).1
            else { throw reader.fault("a key holds half of a surrogate pair", at: start) }
            let name = start..<reader.offset
            let colon = try reader.readColon()
            let (node, value) = try reader.readNode(depthLeft: depthLeft - 1)
            if entries.updateValue(value, forKey: key) != nil {
                throw reader.fault("the key \"\(key)\" occurs twice in this object", at: start)
            }
            return (key, name, colon, node)
        }
        return (node, .map(Value.Map(entries.lazy.map { ($0.key, $0.value) })))
    }

    private mutating func readList(depthLeft: Int) throws(TreeError) -> (Document.Node, Value) {
        var items: [Value] = []
        let node = try readContainer(to: "]", depthLeft: depthLeft) { reader throws(TreeError) in
            let start = reader.offset
            let (node, value) = try reader.readNode(depthLeft: depthLeft - 1)
            items.append(value)
            return (nil, start..<start, start..<start, node)
        }
        return (node, .list(items))
    }

    /// A member without the white space around it.
    private typealias Bare = (Key?, name: Range<Int>, colon: Range<Int>, Document.Node)

    private mutating func readContainer(
        to end: Unicode.Scalar,
        depthLeft: Int,
        member: (inout Self) throws(TreeError) -> Bare
    ) throws(TreeError) -> Document.Node {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        let start = offset
        offset += 1
        var members: [Document.Member] = []
        var before = skipSpace()
        while members.isEmpty ? next != UInt8(ascii: end) : true {
            let count = members.count + 1
            try meter.take(memory: end == "}" ? ReadCost.entry(count) : ReadCost.item(count))
            try meter.take(memory: Self.memberCost)
            let (key, name, colon, node) = try member(&self)
            let after = skipSpace()
            members.append(
                Document.Member(
                    before: before,
                    key: key,
                    name: name,
                    colon: colon,
                    node: node,
                    after: after
                )
            )
            guard next == UInt8(ascii: ",") else { break }
            offset += 1
            before = skipSpace()
        }
        guard next == UInt8(ascii: end) else {
            let container = end == "}" ? "object" : "array"
            throw fault("a comma or the end of the \(container) was expected")
        }
        offset += 1
        let content: Document.Content = end == "}" ? .map(members) : .list(members)
        return Document.Node(range: start..<offset, content: content)
    }

    private mutating func readColon() throws(TreeError) -> Range<Int> {
        let start = offset
        _ = skipSpace()
        guard next == UInt8(ascii: ":") else { throw fault("a colon was expected") }
        offset += 1
        _ = skipSpace()
        return start..<offset
    }

    private mutating func skipSpace() -> Range<Int> {
        let start = offset
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            offset += 1
        }
        return start..<offset
    }
}

// MARK: - Scalars

extension DocumentReader {
    private mutating func readScalar(to end: Int) throws(TreeError) -> (Document.Node, Value) {
        let literal = bytes[offset..<end]
        let value: Value
        try meter.take(memory: ReadCost.bytes(literal.count))
        do {
            value = try Value(json: Array(literal))
        } catch .malformed(_, let place, let reason) {
            guard let half = HalfText(spelt: literal) else {
                throw fault(reason, at: offset + place)
            }
            value = half.value
        }
        defer { offset = end }
        return (Document.Node(range: offset..<end, content: .scalar), value)
    }

    private func endOfString() -> Int {
        var end = offset + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(end + 1, bytes.count)
    }

    private func endOfWord() -> Int {
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        return bytes[offset...].firstIndex { !isLetter($0) } ?? bytes.count
    }

    private mutating func readNumber() throws(TreeError) -> (Document.Node, Value) {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        if next == UInt8(ascii: "0") { offset += 1 } else { try skipDigits() }
        if next == UInt8(ascii: ".") {
            offset += 1
            try skipDigits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try skipDigits()
        }
        let numeral = Numeral(String(decoding: bytes[start..<offset], as: UTF8.self))
        return (Document.Node(range: start..<offset, content: .scalar), numeral.value)
    }

    private mutating func skipDigits() throws(TreeError) {
        let start = offset
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            offset += 1
        }
        guard offset > start else { throw fault("a digit was expected") }
    }
}
