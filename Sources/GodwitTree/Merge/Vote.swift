// How two values tell by themselves that one of them is the later one.
//
// Versions, numbers and dates mostly grow, and a value says more than yes or no. People who merge
// by hand decide the same way.

/// Chooses the later of two values by version, number or date.
struct Vote: Equatable {
    let side: Side
    /// Whether the value is a version, which goes its own way beside others in one record.
    let isVersion: Bool

    private static let sizeMaxInBytes = 300
    private static let versionMaxInBytes = 40

    /// Returns nil when the values say nothing.
    init?(ours: Value, theirs: Value) {
        switch (ours, theirs) {
        case (.bool, .int), (.bool, .string): self.init(.theirs)
        case (.int, .bool), (.string, .bool): self.init(.ours)
        case (.int(let our), .int(let their)): self.init(greater: our, their)
        case (.double(let our), .double(let their)): self.init(greater: our.double, their.double)
        case (.int(let our), .double(let their)): self.init(greater: Double(our), their.double)
        case (.double(let our), .int(let their)): self.init(greater: our.double, Double(their))
        case (.string(let our), .string(let their)): self.init(ours: our, theirs: their)
        default: return nil
        }
    }

    private init(_ side: Side, isVersion: Bool = false) {
        (self.side, self.isVersion) = (side, isVersion)
    }

    private init?<Number: Comparable>(greater ours: Number, _ theirs: Number) {
        if ours == theirs { return nil }
        self.init(ours > theirs ? .ours : .theirs)
    }

    private init?(ours: Key, theirs: Key) {
        guard max(ours.sizeInBytes, theirs.sizeInBytes) < Self.sizeMaxInBytes else { return nil }
        let (our, their) = (Array(ours.text.utf8), Array(theirs.text.utf8))
        if max(our.count, their.count) < Self.versionMaxInBytes,
            let left = Self.version(our), let right = Self.version(their)
        {
            let later = Value.isLessVersion(ours, theirs).map { $0 ? Side.theirs : .ours }
            guard let side = Self.greater(left.numbers, right.numbers) ?? later else { return nil }
            self.init(
                side,
                isVersion: Self.isVersion(.string(ours)) && Self.isVersion(.string(theirs))
            )
        } else if let side = Self.greaterNumber(our, their) ?? Self.greaterDate(our, their) {
            self.init(side)
        } else {
            return nil
        }
    }
}

// MARK: - Versions

extension Vote {
    /// Whether a text is a version of several numbers, such as `^1.2.0` or `v3.1-beta`.
    static func isVersion(_ value: Value) -> Bool {
        guard let bytes = value.text.map({ Array($0.utf8) }), let (numbers, _) = version(bytes)
        else { return false }
        // Less than a version is a bound, and a greater bound allows more, not less.
        guard bytes[0] != UInt8(ascii: "<") else { return false }
        // Two numbers alone are a decimal, four an address.
        return numbers.count == 3 || numbers.count == 2 && !isDigit(bytes[0])
    }

    /// The numbers of a version, and where they end; nil for a range, a date or anything else.
    static func version(_ bytes: [UInt8]) -> (numbers: [Int], end: Int)? {
        let prefixes = Set("^~<>=v".utf8)
        var rest = bytes[...]
        while let byte = rest.first, prefixes.contains(byte) { rest.removeFirst() }
        guard let first = rest.first, isDigit(first) else { return nil }
        if rest.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "|") }) {
            return nil
        }
        if beginsWithDate(rest) { return nil }
        var numbers: [Int] = []
        while let byte = rest.first, isDigit(byte) || byte == UInt8(ascii: "x") {
            let digits = rest.prefix(while: isDigit)
            if digits.isEmpty { break }
            numbers.append(number(digits))
            rest = rest.dropFirst(digits.count)
            guard rest.first == UInt8(ascii: ".") else { break }
            rest.removeFirst()
        }
        let written = bytes[bytes.startIndex..<rest.startIndex]
        guard !isDay(numbers, written), !isGrouped(written) else { return nil }
        return (numbers, rest.startIndex)
    }

    /// Whether two versions differ in their numbers alone, or in being made before a release:
    /// `3.9-slim` and `3.10-alpine` are of two kinds.
    static func haveOneKind(_ ours: Value, _ theirs: Value) -> Bool {
        let words = Sides(ours: ours, theirs: theirs).map { value -> [UInt8] in
            let bytes = Array((value.text ?? "").utf8)
            let suffix = version(bytes).map { bytes[$0.end...] } ?? []
            let word = suffix.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
                .prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
            return previews.contains(String(decoding: word, as: UTF8.self).lowercased())
                ? [] : Array(suffix)
        }
        return words.ours == words.theirs
    }

    private static let previews: Set = [
        "alpha", "beta", "canary", "dev", "next", "nightly", "pre", "preview", "rc", "snapshot",
    ]

    /// Whether the numbers are a day, a month and a year, or a year, a month and a day; a short year, and
    /// one that comes first, have others of two digits.
    private static func isDay(_ numbers: [Int], _ bytes: ArraySlice<UInt8>) -> Bool {
        guard numbers.count == 3 else { return false }
        let (days, months, years) = (1...31, 1...12, 1_000...9_999)
        return switch bytes.split(separator: UInt8(ascii: ".")).map(\.count) {
        case [2, 2, 2]: days.contains(numbers[0]) && months.contains(numbers[1])
        case [4, 2, 2]:
            years.contains(numbers[0]) && months.contains(numbers[1]) && days.contains(numbers[2])
        default:
            days.contains(numbers[0]) && days.contains(numbers[1]) && years.contains(numbers[2])
        }
    }

    /// Whether the points separate thousands.
    private static func isGrouped(_ bytes: ArraySlice<UInt8>) -> Bool {
        let groups = bytes.split(separator: UInt8(ascii: "."))
        return groups.count > 2 && groups.dropFirst().allSatisfy { $0.count == 3 }
    }

    private static func greater(_ ours: [Int], _ theirs: [Int]) -> Side? {
        for index in 0..<max(ours.count, theirs.count) {
            let our = index < ours.count ? ours[index] : 0
            let their = index < theirs.count ? theirs[index] : 0
            if our != their { return our > their ? .ours : .theirs }
        }
        return nil
    }
}

// MARK: - Numbers and dates in texts

extension Vote {
    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// The number of some digits; of more than fit, the greatest there is.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int {
        Int(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    /// A text as digits and what stands between them, by turns.
    private static func parts(_ bytes: [UInt8]) -> (numbers: [ArraySlice<UInt8>], rest: [UInt8]) {
        var (numbers, rest): ([ArraySlice<UInt8>], [UInt8]) = ([], [])
        var position = 0
        while position < bytes.count {
            let digits = bytes[position...].prefix(while: isDigit)
            if digits.isEmpty {
                rest.append(bytes[position])
                position += 1
            } else {
                numbers.append(digits)
                rest.append(UInt8(ascii: "0"))
                position += digits.count
            }
        }
        return (numbers, rest)
    }

    /// The side with the greater number, where the texts differ in nothing else.
    private static func greaterNumber(_ ours: [UInt8], _ theirs: [UInt8]) -> Side? {
        let (our, their) = (parts(ours), parts(theirs))
        guard our.rest == their.rest else { return nil }
        for (left, right) in zip(our.numbers, their.numbers) where left != right {
            let (left, right) = (number(left), number(right))
            if left != right { return left > right ? .ours : .theirs }
        }
        return nil
    }

    /// The side with the later date, where each text has one.
    private static func greaterDate(_ ours: [UInt8], _ theirs: [UInt8]) -> Side? {
        guard let our = date(in: ours), let their = date(in: theirs), our != their else {
            return nil
        }
        return our > their ? .ours : .theirs
    }

    /// Whether two values begin with dates, and with different ones.
    static func isOtherDay(_ value: Value, _ other: Value) -> Bool {
        guard let text = value.text, let otherText = other.text else { return false }
        return [text, otherText].allSatisfy { beginsWithDate($0.utf8) }
            && !text.utf8.prefix(10).elementsEqual(otherText.utf8.prefix(10))
    }

    static func beginsWithDate(_ text: some Sequence<UInt8>) -> Bool {
        let bytes = Array(text.prefix(10))
        return bytes.count == 10 && date(in: bytes) != nil
    }

    /// The only date in a text, as a number: `2026-03-10`, `2026_03_10` or `20260310`.
    private static func date(in bytes: [UInt8]) -> Int? {
        var found: Int?
        var position = 0
        while position < bytes.count {
            guard isDigit(bytes[position]), position == 0 || !isDigit(bytes[position - 1]),
                let (date, end) = date(in: bytes, at: position)
            else {
                position += 1
                continue
            }
            if found != nil { return nil }
            found = date
            position = end
        }
        return found
    }

    private static func date(in bytes: [UInt8], at start: Int) -> (date: Int, end: Int)? {
        var digits: [UInt8] = []
        var position = start
        while position < bytes.count, digits.count < 8 {
            let byte = bytes[position]
            let isSeparator = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            if isDigit(byte) {
                digits.append(byte)
            } else if !(isSeparator && (digits.count == 4 || digits.count == 6)) {
                return nil
            }
            position += 1
        }
        guard digits.count == 8, position == bytes.count || !isDigit(bytes[position]) else {
            return nil
        }
        let date = number(digits[...])
        let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100)
        guard (1900...2099).contains(year), (1...12).contains(month), (1...31).contains(day) else {
            return nil
        }
        return (date, position)
    }
}
