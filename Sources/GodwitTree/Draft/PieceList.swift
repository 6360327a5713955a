/// Some consecutive places of an edited sequence that have one story.
protocol Piece {
    /// How many places; at least one.
    var count: Int { get }

    /// The same in two parts; the first has `count` places.
    func split(at count: Int) -> (Self, Self)

    /// This piece and the next as one, where they have one story.
    func joined(with next: Self) -> Self?
}

// The pieces stand in blocks, and each block knows how many places it has:
//
//   (1) No piece is empty, and no two neighbours in a block can be joined.
//   (2) A block has at most `blockMax` pieces; one with none is the only one.

/// The edit history of a sequence, as pieces.
///
/// - Complexity: A change is O(*k* / 256 + 256) in the number of pieces, with a small constant.
struct PieceList<Element: Piece> {
    private struct Block {
        var pieces: [Element]
        var count: Int
    }

    private var blocks: [Block]
    private(set) var count: Int
    /// How many places there were at first.
    let baseCount: Int

    private static var blockMax: Int { 256 }

    /// A sequence that is already in pieces; empty ones do not count.
    ///
    /// - Precondition: There are as many places as at first, and only a few pieces.
    init(_ pieces: [Element]) {
        var filled: [Element] = []
        // Most lists are edited once or twice, and each edit adds two pieces.
        filled.reserveCapacity(pieces.count + 3)
        filled.append(contentsOf: pieces.lazy.filter { $0.count > 0 })
        count = filled.reduce(0) { $0 + $1.count }
        baseCount = count
        blocks = [Block(pieces: filled, count: count)]
    }

    /// All pieces, in order.
    var pieces: [Element] { blocks.count == 1 ? blocks[0].pieces : blocks.flatMap(\.pieces) }

    /// The piece that a place is in, and which of its places that is.
    subscript(position: Int) -> (piece: Element, offset: Int) {
        let place = find(position)
        return (blocks[place.block].pieces[place.piece], place.offset)
    }

    /// Lends the piece that a place is in; it must stay as long as it is.
    mutating func modify<Result>(at position: Int, _ body: (inout Element) -> Result) -> Result {
        let place = find(position)
        return body(&blocks[place.block].pieces[place.piece])
    }

    /// Puts pieces in the place of some others.
    mutating func replace(_ range: Range<Int>, with new: [Element]) {
        var place = cut(at: range.lowerBound)
        remove(range.count, at: place)
        for piece in new {
            insert(piece, at: place)
            place.piece += 1
        }
        count += new.reduce(0) { $0 + $1.count } - range.count
        join(place.block, at: place.piece)
        join(place.block, at: place.piece - new.count)
        splitBlock(place.block)
    }

    /// Takes the piece of one place out, to put it in elsewhere.
    mutating func take(at position: Int) -> Element {
        var (piece, offset) = self[position]
        if offset > 0 { piece = piece.split(at: offset).1 }
        if piece.count > 1 { piece = piece.split(at: 1).0 }
        replace(position..<(position + 1), with: [])
        return piece
    }
}

extension PieceList {
    private struct Place {
        var block: Int
        var piece: Int
        /// Places of the piece before this one.
        var offset: Int
    }

    private func find(_ position: Int) -> Place {
        var (block, start) = (0, 0)
        while block < blocks.count - 1, start + blocks[block].count <= position {
            start += blocks[block].count
            block += 1
        }
        return blocks[block].pieces.withUnsafeBufferPointer { pieces in
            var piece = 0
            while piece < pieces.count, start + pieces[piece].count <= position {
                start += pieces[piece].count
                piece += 1
            }
            return Place(block: block, piece: piece, offset: position - start)
        }
    }

    /// Makes a piece begin at a position; the place is behind the last piece at the end of a block.
    private mutating func cut(at position: Int) -> Place {
        let place = find(position)
        guard place.offset > 0 else { return place }
        let (left, right) = blocks[place.block].pieces[place.piece].split(at: place.offset)
        blocks[place.block].pieces[place.piece] = left
        blocks[place.block].pieces.insert(right, at: place.piece + 1)
        return Place(block: place.block, piece: place.piece + 1, offset: 0)
    }

    private mutating func insert(_ piece: Element, at place: Place) {
        blocks[place.block].pieces.insert(piece, at: place.piece)
        blocks[place.block].count += piece.count
    }

    /// Removes places behind one where a piece begins.
    private mutating func remove(_ count: Int, at place: Place) {
        var left = count
        while left > 0 {
            var block = place.block
            var piece = place.piece
            while piece == blocks[block].pieces.count { (block, piece) = (block + 1, 0) }
            let found = blocks[block].pieces[piece]
            let taken = Swift.min(left, found.count)
            if taken == found.count {
                blocks[block].pieces.remove(at: piece)
            } else {
                blocks[block].pieces[piece] = found.split(at: taken).1
            }
            blocks[block].count -= taken
            left -= taken
            if blocks[block].pieces.isEmpty, block > place.block { blocks.remove(at: block) }
        }
    }

    /// Joins a piece with the one before it, where they are one.
    private mutating func join(_ block: Int, at piece: Int) {
        guard piece > 0, piece < blocks[block].pieces.count,
            let joined = blocks[block].pieces[piece - 1].joined(with: blocks[block].pieces[piece])
        else { return }
        blocks[block].pieces[piece - 1] = joined
        blocks[block].pieces.remove(at: piece)
    }

    private mutating func splitBlock(_ index: Int) {
        if blocks[index].pieces.isEmpty, blocks.count > 1 {
            blocks.remove(at: index)
            return
        }
        while blocks[index].pieces.count > Self.blockMax {
            let tail = Array(blocks[index].pieces.suffix(Self.blockMax / 2))
            let tailCount = tail.reduce(0) { $0 + $1.count }
            blocks[index].pieces.removeLast(tail.count)
            blocks[index].count -= tailCount
            blocks.insert(Block(pieces: tail, count: tailCount), at: index + 1)
        }
    }
}
