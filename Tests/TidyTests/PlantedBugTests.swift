import Foundation
import Testing

/// The bugs that the simulated worlds have to find: each is a change of lines that are there.
@Suite struct PlantedBugTests {
    struct PlantedBug: Sendable, CustomTestStringConvertible {
        let name: String
        let path: String
        let before: String

        var testDescription: String { name }

        /// - Parameter entry: What stands behind `==`.
        fileprivate init?(_ entry: some StringProtocol) {
            let parts = entry.components(separatedBy: "\n<<<\n")
            guard parts.count == 2, let before = parts[1].components(separatedBy: "\n===\n").first
            else { return nil }
            let head = parts[0].components(separatedBy: "\n")
            guard head.count == 2, let name = head[0].split(separator: ":").first else {
                return nil
            }
            (self.name, path, self.before) = (String(name), head[1], before)
        }
    }

    /// Where the worlds lie in the project, by their place in the copy that is built with the bugs.
    private static let worlds = [
        "Sources/World/": "Tests/GodwitWorldTests/",
        "Sources/LineWorld/": "Tests/GodwitReplicationTests/LineWorld/",
        "Sources/SyncWorld/": "Tests/GodwitSyncWorldTests/",
    ]

    static let bugs = ["bugs.txt", "line-bugs.txt", "sync-bugs.txt"].flatMap { name in
        let text = SourceFile.text(of: "Tests/PlantedBugs/\(name)")
        return ("\n" + text).components(separatedBy: "\n== ").dropFirst().map { PlantedBug($0) }
    }

    @Test func `every entry has a name, a file, and the lines before and after`() {
        #expect(Self.bugs.count >= 100 && !Self.bugs.contains { $0 == nil })
    }

    @Test(arguments: bugs.compactMap(\.self))
    func `the lines that a planted bug changes are there once`(bug: PlantedBug) {
        let world = Self.worlds.first { bug.path.hasPrefix($0.key) }
        let path = world.map { bug.path.replacing($0.key, with: $0.value) } ?? bug.path
        let count = SourceFile.text(of: path).components(separatedBy: bug.before).count - 1
        #expect(count == 1, "\(path)")
    }
}
