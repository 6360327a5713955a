/// The leaf that a builder is about to fill.
///
/// It owns room for as many elements as a leaf can have, and moves them out when the leaf ends.
struct OpenLeaf<Element: ChunkElement>: ~Copyable {
    private let elements = UnsafeMutablePointer<Element>.allocate(
        capacity: ChunkBoundary.countMax
    )
    private let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: ChunkBoundary.countMax)
    /// How many elements there are; of a run, those of the pattern.
    private var storedCount = 0
    /// How many elements a run stands for; 0 where there is none.
    private var runCount = 0
    private var rule = LeafRule()
    /// The run that was taken over, as long as nothing was added.
    private var source: Chunk<Element>?
    /// A leaf that was taken over whole, and is looked into only when something comes behind it.
    private var whole: Chunk<Element>?

    init() {}

    deinit {
        elements.deinitialize(count: storedCount)
        elements.deallocate()
        bytes.deallocate()
    }

    var count: Int { whole?.count ?? storedCount }
    var isEmpty: Bool { storedCount == 0 && whole == nil }
    var isRun: Bool { runCount > 0 }

    /// Whether the last window repeats itself.
    var isRepeating: Bool { rule.period != 0 }
}

// MARK: - Elements

extension OpenLeaf {
    /// Appends an element; the leaf is no run.
    ///
    /// - Returns: Whether the leaf ends behind it.
    mutating func append(_ element: consuming Element, _ byte: UInt8) -> Bool {
        unpack()
        push(element, byte)
        guard storedCount >= ChunkBoundary.countMin else { return false }
        if rule.mayBeRun {
            if let period = repetition(of: rule.period...ChunkBoundary.periodMax) {
                guard storedCount == ChunkBoundary.runMin else { return true }
                becomeRun(of: period)
                return false
            }
            rule.breakStreak()
        }
        guard storedCount == ChunkBoundary.countMax else { return isMarked }
        guard let period = repetition(of: 1...ChunkBoundary.longPeriodMax) else { return true }
        becomeRun(of: period)
        return false
    }

    /// Appends elements of a leaf that end nothing here, because they ended nothing there.
    mutating func append(unmarked range: Range<Int>, of leaf: Chunk<Element>) {
        if isEmpty, range.count == leaf.count { return whole = leaf }
        unpack()
        copy(range, of: leaf)
    }

    private mutating func unpack() {
        guard let leaf = whole else { return }
        whole = nil
        copy(0..<leaf.count, of: leaf)
    }

    private mutating func copy(_ range: Range<Int>, of leaf: Chunk<Element>) {
        if case .leaf(let boundary) = leaf.part, !boundary.hasRepetition {
            return copy(range, of: leaf, boundary.bytes)
        }
        leaf.withStoredElements { stored in
            for index in range {
                push(stored[index], leaf.boundaryByte(at: index))
                if rule.mayBeRun { rule.breakStreak() }
            }
        }
    }

    /// Copies elements that do not repeat each other.
    private mutating func copy(_ range: Range<Int>, of leaf: Chunk<Element>, _ new: [UInt8]) {
        leaf.withStoredElements { (elements + storedCount).initialize(copying: $0[range]) }
        new.withUnsafeBufferPointer { (bytes + storedCount).initialize(copying: $0[range]) }
        storedCount += range.count
        rule.note(unrepeated: new[range])
    }

    private mutating func push(_ element: consuming Element, _ byte: UInt8) {
        (elements + storedCount).initialize(to: element)
        bytes[storedCount] = byte
        storedCount += 1
        rule.note(byte)
    }

    private var isMarked: Bool {
        guard rule.period != 0 else { return ChunkBoundary.isMarked(window: rule.window) }
        var window: UInt64 = 0
        for index in (storedCount - ChunkBoundary.windowCount)..<storedCount {
            window = ChunkBoundary.window(window, with: elements[index].contentByte)
        }
        return ChunkBoundary.isMarked(window: window)
    }

    /// After how many elements those that make a run repeat themselves, if they do.
    private func repetition(of periods: ClosedRange<Int>) -> Int? {
        let runMin = ChunkBoundary.runMin(period: periods.upperBound)
        return periods.first { period in
            let first = storedCount - runMin + period
            return (first..<storedCount).allSatisfy { index in
                bytes[index] == bytes[index - period]
                    && elements[index] == elements[index - period]
            }
        }
    }
}

// MARK: - Runs

extension OpenLeaf {
    private mutating func becomeRun(of period: Int) {
        (elements + period).deinitialize(count: storedCount - period)
        runCount = storedCount
        storedCount = period
    }

    /// Takes a part of a run over; the leaf is empty.
    mutating func beginRun(_ range: Range<Int>, of leaf: Chunk<Element>) {
        for offset in 0..<leaf.storedCount {
            let position = range.lowerBound + offset
            push(leaf.element(at: position), leaf.boundaryByte(at: position))
        }
        runCount = range.count
        source = range.count == leaf.count ? leaf : nil
    }

    /// Whether an element is the next one of this run.
    func isContinued(by element: Element) -> Bool {
        isRun && elements[runCount % storedCount] == element
    }

    /// Whether what follows from a position of another run on is the rest of this one.
    func isContinued(by other: Chunk<Element>, from position: Int) -> Bool {
        storedCount == other.storedCount
            && (0..<storedCount).allSatisfy {
                elements[(runCount + $0) % storedCount] == other.element(at: position + $0)
            }
    }

    mutating func extendRun(by count: Int) {
        runCount += count
        source = nil
    }
}

// MARK: - The end

extension OpenLeaf {
    /// Makes a chunk of what is here, and is empty.
    mutating func close(isComplete: Bool) -> Chunk<Element> {
        let chunk = whole ?? source ?? made(isComplete: isComplete)
        if source != nil { elements.deinitialize(count: storedCount) }
        (storedCount, runCount, rule, source, whole) = (0, 0, LeafRule(), nil, nil)
        return chunk
    }

    private func made(isComplete: Bool) -> Chunk<Element> {
        let boundary = LeafBoundary(
            bytes: Array(UnsafeBufferPointer(start: bytes, count: storedCount)),
            count: isRun ? runCount : storedCount,
            isComplete: isComplete,
            hasRepetition: rule.hasRepetition
        )
        let (elements, count) = (elements, storedCount)
        let move = { (target: UnsafeMutablePointer<Element>) in
            target.moveInitialize(from: elements, count: count)
        }
        return isRun ? .run(of: runCount, boundary, move) : .leaf(boundary, move)
    }
}
