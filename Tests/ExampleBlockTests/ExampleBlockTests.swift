import Foundation
import Testing

/// The Swift blocks of the documentation: that this target builds proves that they compile.
@Suite struct ExampleBlockTests {
    @Test func `the blocks that are compiled are those of the documentation`() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let check = Process()
        check.executableURL = root.appending(path: "Scripts/example-blocks")
        check.arguments = ["--check"]
        try check.run()
        check.waitUntilExit()
        #expect(check.terminationStatus == 0, "run Scripts/example-blocks")
    }
}
