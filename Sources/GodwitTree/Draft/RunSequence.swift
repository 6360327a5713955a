/// Some consecutive places of an edited sequence that have one story.
protocol EditRun {
    /// How many places; at least one.
    var count: Int { get }

    /// The same in two parts; the first has `count` places.
    func split(at count: Int) -> (Self, Self)

    /// This run and the next as one, where they have one story.
    func joined(with next: Self) -> Self?
}

// The runs stand in blocks, and each block knows how many places it has:
//
//   (1) No run is empty, and no two neighbours in a block can be joined.
//   (2) A block has at most `blockMax` runs; one with none is the only one.

/// What became of a sequence, run by run, while it is being edited.
///
/// - Complexity: A change is O(*k* / 256 + 256) in the number of runs, with a small constant.
struct RunSequence<Run: EditRun> {
    private struct Block {
        var runs: [Run]
        var count: Int
    }

    private var blocks: [Block]
    private(set) var count: Int
    /// How many places there were at first.
    let baseCount: Int

    private static var blockMax: Int { 256 }

    /// A sequence of which nothing has changed yet.
    init(kept run: Run) {
        blocks = [Block(runs: run.count == 0 ? [] : [run], count: run.count)]
        count = run.count
        baseCount = run.count
    }

    /// All runs, in order.
    var runs: [Run] { blocks.flatMap(\.runs) }

    /// The run that a place is in, and which of its places that is.
    subscript(position: Int) -> (run: Run, offset: Int) {
        let place = find(position)
        return (blocks[place.block].runs[place.run], place.offset)
    }

    /// Lends the run that a place is in; it must stay as long as it is.
    mutating func modify<Result>(at position: Int, _ body: (inout Run) -> Result) -> Result {
        let place = find(position)
        return body(&blocks[place.block].runs[place.run])
    }

    /// Puts runs in the place of some others.
    mutating func replace(_ range: Range<Int>, with new: [Run]) {
        var place = cut(at: range.lowerBound)
        remove(range.count, at: place)
        for run in new {
            insert(run, at: place)
            place.run += 1
        }
        count += new.reduce(0) { $0 + $1.count } - range.count
        join(place.block, at: place.run)
        join(place.block, at: place.run - new.count)
        splitBlock(place.block)
    }

    /// Takes the run of one place out, to put it in elsewhere.
    mutating func take(at position: Int) -> Run {
        var (run, offset) = self[position]
        if offset > 0 { run = run.split(at: offset).1 }
        if run.count > 1 { run = run.split(at: 1).0 }
        replace(position..<(position + 1), with: [])
        return run
    }
}

extension RunSequence {
    private struct Place {
        var block: Int
        var run: Int
        /// Places of the run before this one.
        var offset: Int
    }

    private func find(_ position: Int) -> Place {
        var (block, start) = (0, 0)
        while block < blocks.count - 1, start + blocks[block].count <= position {
            start += blocks[block].count
            block += 1
        }
        return blocks[block].runs.withUnsafeBufferPointer { runs in
            var run = 0
            while run < runs.count, start + runs[run].count <= position {
                start += runs[run].count
                run += 1
            }
            return Place(block: block, run: run, offset: position - start)
        }
    }

    /// Makes a run begin at a position; the place is behind the last run at the end of a block.
    private mutating func cut(at position: Int) -> Place {
        let place = find(position)
        guard place.offset > 0 else { return place }
        let (left, right) = blocks[place.block].runs[place.run].split(at: place.offset)
        blocks[place.block].runs[place.run] = left
        blocks[place.block].runs.insert(right, at: place.run + 1)
        return Place(block: place.block, run: place.run + 1, offset: 0)
    }

    private mutating func insert(_ run: Run, at place: Place) {
        blocks[place.block].runs.insert(run, at: place.run)
        blocks[place.block].count += run.count
    }

    /// Removes places behind one where a run begins.
    private mutating func remove(_ count: Int, at place: Place) {
        var left = count
        while left > 0 {
            var block = place.block
            var run = place.run
            while run == blocks[block].runs.count { (block, run) = (block + 1, 0) }
            let found = blocks[block].runs[run]
            let taken = Swift.min(left, found.count)
            if taken == found.count {
                blocks[block].runs.remove(at: run)
            } else {
                blocks[block].runs[run] = found.split(at: taken).1
            }
            blocks[block].count -= taken
            left -= taken
            if blocks[block].runs.isEmpty, block > place.block { blocks.remove(at: block) }
        }
    }

    /// Joins a run with the one before it, where they are one.
    private mutating func join(_ block: Int, at run: Int) {
        guard run > 0, run < blocks[block].runs.count,
            let joined = blocks[block].runs[run - 1].joined(with: blocks[block].runs[run])
        else { return }
        blocks[block].runs[run - 1] = joined
        blocks[block].runs.remove(at: run)
    }

    private mutating func splitBlock(_ index: Int) {
        if blocks[index].runs.isEmpty, blocks.count > 1 {
            blocks.remove(at: index)
            return
        }
        while blocks[index].runs.count > Self.blockMax {
            let tail = Array(blocks[index].runs.suffix(Self.blockMax / 2))
            let tailCount = tail.reduce(0) { $0 + $1.count }
            blocks[index].runs.removeLast(tail.count)
            blocks[index].count -= tailCount
            blocks.insert(Block(runs: tail, count: tailCount), at: index + 1)
        }
    }
}
