/// The edits that a draft has recorded for one value.
///
/// A recording has no values: the delta reads them from the draft. Most edits touch one field of
/// one item, so these have a form of their own.
enum Recording {
    /// Nothing.
    case none
    /// It was set, or created; what happens inside it since is part of that.
    case set
    /// An assigned scalar, kept here to avoid a lookup.
    case scalar(Value)
    /// Something happened under this key.
    indirect case field(Key, Field)
    /// Something happened under these keys.
    case fields([Key: Field])
    /// Something happened to the item at this position, and to no other of so many.
    indirect case item(Int, count: Int, Field)
    /// Something happened to these items.
    case items(PieceList<ItemPiece>)
    /// Something happened within the text.
    indirect case text(TextPieces)
    /// So much was added.
    case increment(Int64)

    /// The change of a part.
    struct Field {
        /// The part as it was when the draft began; nil where there was none.
        let base: Value?
        var story: Recording
    }

    var isNone: Bool {
        if case .none = self { true } else { false }
    }

    var isSet: Bool {
        switch self {
        case .set, .scalar: true
        default: false
        }
    }
}

// Each of these gives up what it returns, so that the caller can change it in place: no copy of it
// is left here, and none in the frame of a caller's switch.
extension Recording {
    /// The change under the only key with one.
    mutating func takeField(_ key: Key) -> Field? {
        guard case .field(let known, let field) = self, known == key else { return nil }
        self = .none
        return field
    }

    /// The changes under all keys; nil where they do not matter.
    mutating func takeFields() -> [Key: Field]? {
        let fields: [Key: Field]
        switch self {
        case .field(let key, let field): fields = [key: field]
        case .fields(let known): fields = known
        default: return nil
        }
        self = .none
        return fields
    }

    /// The change of the only item with one.
    mutating func takeItem(_ position: Int) -> Field? {
        guard case .item(let known, _, let field) = self, known == position else { return nil }
        self = .none
        return field
    }

    /// The pieces of a list, if it is in pieces.
    mutating func takeItems() -> PieceList<ItemPiece>? {
        guard case .items(let pieces) = self else { return nil }
        self = .none
        return pieces
    }

    /// The pieces of a list with so many items; nil where they do not matter.
    mutating func takePieces(count: Int) -> PieceList<ItemPiece>? {
        if let pieces = takeItems() { return pieces }
        switch self {
        case .set, .scalar: return nil
        case .item(let position, let count, let field):
            return PieceList([
                .kept(0..<position), .edited(position, field), .kept((position + 1)..<count),
            ])
        default: return PieceList([.kept(0..<count)])
        }
    }
}

/// Items of a list that have one story.
enum ItemPiece: Piece {
    /// Items of the base, next to each other.
    case kept(Range<Int>)
    /// An item of the base that was edited.
    case edited(Int, Recording.Field)
    /// So many items that the base does not have.
    case new(Int)

    var count: Int {
        switch self {
        case .kept(let range): range.count
        case .edited: 1
        case .new(let count): count
        }
    }

    func split(at count: Int) -> (ItemPiece, ItemPiece) {
        switch self {
        case .kept(let range):
            let middle = range.lowerBound + count
            return (.kept(range.lowerBound..<middle), .kept(middle..<range.upperBound))
        case .new(let all): return (.new(count), .new(all - count))
        case .edited: preconditionFailure("One item cannot be split")
        }
    }

    func joined(with next: ItemPiece) -> ItemPiece? {
        switch (self, next) {
        case (.kept(let range), .kept(let next)) where range.upperBound == next.lowerBound:
            .kept(range.lowerBound..<next.upperBound)
        case (.new(let count), .new(let next)): .new(count + next)
        default: nil
        }
    }
}
