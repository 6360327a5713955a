/// What an operation does to one thing.
struct FootprintRow: Hashable, Comparable, Sendable {
    let key: FootprintKey
    let intent: Footprint.Intent

    init(_ key: FootprintKey, _ intent: Footprint.Intent) {
        self.key = key
        self.intent = intent
    }

    static func < (left: FootprintRow, right: FootprintRow) -> Bool {
        (left.key, left.intent.rawValue) < (right.key, right.intent.rawValue)
    }
}

/// All that one operation touches, as its row in the database keeps it.
///
///     1 if it may hide touches of others, else 0 (1 byte)
///     for each row: intent (1), count of steps (LEB128, 0 for a name), steps (4 each; a name's: 8)
struct FootprintRecord: Equatable, Sendable {
    /// In their order, each once.
    let rows: [FootprintRow]
    /// Whether all that it has an order with was enqueued before it: see `FootprintIndex`.
    let mayHide: Bool

    init(_ rows: [FootprintRow], mayHide: Bool) { (self.rows, self.mayHide) = (rows, mayHide) }

    var bytes: [UInt8] {
        var bytes: [UInt8] = [mayHide ? 1 : 0]
        for row in rows {
            bytes.append(UInt8(row.intent.rawValue))
            bytes.append(leb128: row.key.isPath ? row.key.steps.count : 0)
            for step in row.key.steps {
                if row.key.isPath {
                    bytes.append(bigEndian: UInt32(truncatingIfNeeded: step))
                } else {
                    bytes.append(bigEndian: step)
                }
            }
        }
        return bytes
    }

    /// Reads what ``bytes`` writes, as far as it is sound.
    init(bytes: some Sequence<UInt8>) {
        var (rest, rows) = (bytes.makeIterator(), [FootprintRow]())
        mayHide = rest.next() == 1
        while let row = FootprintRow(&rest) { rows.append(row) }
        self.rows = rows
    }
}

extension FootprintRow {
    fileprivate init?(_ bytes: inout some IteratorProtocol<UInt8>) {
        guard let number = bytes.next(), let count = bytes.nextLEB128(),
            let intent = Footprint.Intent(rawValue: Int64(number))
        else { return nil }
        let isPath = count > 0
        var steps: [UInt64] = []
        for _ in 0..<max(1, count) {
            guard let step = bytes.nextBigEndian(byteCount: isPath ? 4 : 8) else { return nil }
            steps.append(step)
        }
        self.init(FootprintKey(isPath: isPath, steps: steps), intent)
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(leb128 number: Int) {
        var left = UInt(number)
        while left > 0x7f {
            append(UInt8(left & 0x7f) | 0x80)
            left >>= 7
        }
        append(UInt8(left))
    }
}

extension IteratorProtocol<UInt8> {
    fileprivate mutating func nextBigEndian(byteCount: Int) -> UInt64? {
        var number: UInt64 = 0
        for _ in 0..<byteCount {
            guard let byte = next() else { return nil }
            number = number << 8 | UInt64(byte)
        }
        return number
    }

    /// A number below 2^28.
    fileprivate mutating func nextLEB128() -> Int? {
        var number = 0
        for shift in [0, 7, 14, 21] {
            guard let byte = next() else { return nil }
            number |= Int(byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}

extension Footprint {
    /// The rows of this, sorted, each once.
    ///
    /// Paths of different hosts have nothing to do with each other; what goes ahead of what has no
    /// host.
    func rows(for host: String?) -> [FootprintRow] {
        var rows = touches.map { touch in
            let key = FootprintKey(touch.resource, on: touch.intent.isOnPath ? host : nil)
            return FootprintRow(key, touch.intent)
        }
        guard rows.count > 1 else { return rows }
        rows.sort()
        // Two names may have one hash.
        var (last, all) = (rows[0], [rows[0]])
        for row in rows.dropFirst() where row != last {
            all.append(row)
            last = row
        }
        return all
    }
}
