import Testing

@testable import GodwitConnectors

/// How many bytes an exchange brings, by how the last ones went.
@Suite struct PieceSizeTests {
    private static let quick = Duration.milliseconds(100)

    @Test func `exchanges of a few bytes say nothing about larger ones`() {
        var size = PieceSize()
        let first = size.value
        for _ in 0..<100 { size.noteAnswer(after: Self.quick, of: 300, wasFull: false) }
        #expect(size.value == first)
        size.noteAnswer(after: Self.quick, of: first, wasFull: false)
        #expect(size.value == 2 * first)
        size.noteAnswer(after: Self.quick, of: 300, wasFull: true)
        #expect(size.value == 4 * first, "small edits of large objects fill a piece, too")
    }

    @Test func `a batch that is cut is made smaller until it gets through`() {
        var size = PieceSize()
        for _ in 0..<10 { size.noteAnswer(after: Self.quick, of: 8 << 20, wasFull: true) }
        var batch = 900_000
        var cutCount = 0
        while batch > 100_000 {
            cutCount += 1
            let maySucceed = size.noteInterruption(after: .seconds(10), of: batch)
            #expect(maySucceed)
            // The comparison that follows is quick, and small.
            for _ in 0..<3 { size.noteAnswer(after: Self.quick, of: 400, wasFull: false) }
            batch = min(batch, size.value)
        }
        #expect(cutCount == 4)
        // The smallest batch is sent again as it is.
        for _ in 0..<10 { _ = size.noteInterruption(after: .seconds(10), of: size.value) }
        let maySucceed = size.noteInterruption(after: .seconds(10), of: size.value)
        #expect(!maySucceed)
    }

    @Test func `a failure at once says nothing where no batch was sent`() {
        var size = PieceSize()
        let first = size.value
        _ = size.noteInterruption(after: .zero, of: nil)
        #expect(size.value == first)
        _ = size.noteInterruption(after: .seconds(10), of: nil)
        #expect(size.value == first / 2)
    }

    @Test func `a connection that ends at once says something when the next one does, too`() {
        var size = PieceSize()
        let first = size.value
        for _ in 0..<3 {
            let isTooLarge = size.noteInterruption(after: Self.quick, of: 60_000)
            #expect(!isTooLarge && size.value == first)
            size.noteAnswer(after: Self.quick, of: 300, wasFull: false)
        }
        _ = size.noteInterruption(after: Self.quick, of: 60_000)
        let isTooLarge = size.noteInterruption(after: Self.quick, of: 60_000)
        #expect(isTooLarge && size.value == 30_000)
    }

    @Test func `what was refused by its size is not asked for again`() {
        var size = PieceSize()
        size.noteRefusal(of: 60_000)
        for _ in 0..<10 { size.noteAnswer(after: Self.quick, of: 8 << 20, wasFull: true) }
        #expect(size.value == 30_000)
    }
}
