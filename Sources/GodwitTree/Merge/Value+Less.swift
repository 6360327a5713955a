// Which of two values is the smaller one, for the rules max and min.
//
//   (1) Numbers compare as numbers.
//   (2) Strings of dotted numbers compare number by number; the shorter one counts as if it ended
//       with zeros. A pre-release is smaller than its release, and two of them compare part by
//       part, numbers as numbers (Semantic Versioning 2.0.0, section 11).
//   (3) Other strings compare by their bytes, and so do versions that are equal by (2).

extension Value {
    /// Whether this is the smaller of two numbers or texts; nil if they cannot be compared.
    func isLess(than other: Value) -> Bool? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right
        case (.double(let left), .double(let right)): left.double < right.double
        case (.int(let left), .double(let right)): Double(left) < right.double
        case (.double(let left), .int(let right)): left.double < Double(right)
        case (.string(let left), .string(let right)):
            Self.isLessVersion(left, right) ?? Key.isBefore(left, right)
        default: nil
        }
    }

    /// Nil if either text is no version, or if both are the same one.
    static func isLessVersion(_ left: Key, _ right: Key) -> Bool? {
        guard let left = Version(left), let right = Version(right) else { return nil }
        return left < right ? true : right < left ? false : nil
    }
}

/// A text of dotted numbers, with a pre-release behind them or not.
private struct Version: Comparable {
    private let numbers: [Int]
    /// The parts behind the hyphen; nil for a release.
    private let parts: [Part]?

    fileprivate enum Part: Comparable {
        case number(Int)
        case word(Key)
    }

    init?(_ text: Key) {
        let bytes = Array(text.text.utf8)
        guard let (numbers, end) = Vote.version(bytes), numbers.count > 1 else { return nil }
        // Build metadata has no order.
        let rest = bytes[end...].prefix { $0 != UInt8(ascii: "+") }
        guard rest.isEmpty || rest.first == UInt8(ascii: "-") else { return nil }
        self.numbers = Array(numbers[...(numbers.lastIndex { $0 != 0 } ?? 0)])
        parts =
            rest.isEmpty ? nil : rest.dropFirst().split(separator: UInt8(ascii: ".")).map(Part.init)
    }

    static func < (left: Version, right: Version) -> Bool {
        if left.numbers != right.numbers {
            return left.numbers.lexicographicallyPrecedes(right.numbers)
        }
        guard let before = left.parts else { return false }
        return right.parts.map { before.lexicographicallyPrecedes($0) } ?? true
    }
}

extension Version.Part {
    fileprivate init(_ bytes: ArraySlice<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        self = Int(text).map(Self.number) ?? .word(Key(text))
    }
}
