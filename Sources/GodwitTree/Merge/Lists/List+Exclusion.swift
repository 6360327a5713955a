// Whether two lists that both sides created can be one.
//
// To unite two lists item by item is right for sets and wrong for arguments: half of one command
// and half of another is neither. No list says which it is, so its items must tell.
//
//   (1) Lists of records, and lists of lines, are always merged. Lists of rows are not: they are points
//       of a line, rings of a polygon, or a matrix.
//   (2) Where one list has all that the other has, in the same order, nothing is contested.
//   (3) A set is a list of strings, all different, of one kind: numbers, options or words.

extension Value.List {
    /// Whether each of two lists is one value, so that they cannot both be there.
    func excludes(_ other: Value.List) -> Bool {
        let lists = [self, other]
        guard lists.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.hasNoRecords) }),
            lists.contains(where: { $0.lines == nil }),
            !contains(inOrder: other), !other.contains(inOrder: self)
        else { return false }
        let kinds = lists.map(\.kindOfSet)
        return kinds[0] == nil || kinds[0] != kinds[1]
    }

    func contains(inOrder other: Value.List) -> Bool {
        var rest = Array(other)[...]
        for item in self where item == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }

    private enum Kind {
        case numbers, options, words

        init?(_ item: Value) {
            guard case .string(let text) = item, let first = text.text.utf8.first else {
                return nil
            }
            switch first {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .numbers
            case UInt8(ascii: "-"): self = .options
            default: self = .words
            }
        }
    }

    /// The kind of items in this set; nil for a list that is no set.
    private var kindOfSet: Kind? {
        guard let first, let kind = Kind(first), Set(self).count == count,
            allSatisfy({ Kind($0) == kind })
        else { return nil }
        return kind
    }
}

extension Value {
    /// Whether this is a scalar, or a row of such.
    fileprivate var hasNoRecords: Bool {
        switch self {
        case .map: false
        case .list(let items): items.allSatisfy(\.hasNoRecords)
        case .null, .bool, .int, .double, .string, .bytes: true
        }
    }
}
