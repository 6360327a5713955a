import Testing

/// The rooms of a module: its folders, of which each names only types of those below it.
@Suite struct RoomTests {
    /// The rooms of GodwitTree, lowest first.
    static let rooms = [
        "Bytes", "Chunk", "Value", "Canonical", "Policy", "Delta", "Diff", "Merge", "Draft", "Text",
        "Pack", "Interchange",
    ]

    private static let files = TidyTests.sources.filter { $0.module == "GodwitTree" }

    @Test func `every file of the tree is in a room`() {
        #expect(Set(Self.files.map(\.room)) == Set(Self.rooms))
    }

    @Test func `the rooms of the tree name only types of the rooms below them`() {
        var home: [Substring: Set<String>] = [:]
        for file in Self.files {
            for name in file.declaredTypes { home[name, default: []].insert(file.room) }
        }
        #expect(home["ChunkTree"] == ["Chunk"] && home["Merge"] == ["Merge"])
        let heights = Dictionary(
            uniqueKeysWithValues: Self.rooms.enumerated().map { ($0.element, $0.offset) }
        )
        for file in Self.files {
            for (number, line) in file.code {
                for word in line.withoutStrings.matches(of: /\b[A-Z]\w+/).map(\.output) {
                    guard let rooms = home[word], rooms.count == 1, let room = rooms.first,
                        let height = heights[room], let own = heights[file.room]
                    else { continue }
                    #expect(height <= own, "\(file.path):\(number) names \(word) of \(room)")
                }
            }
        }
    }
}

extension SourceFile {
    /// The folder below that of the module.
    fileprivate var room: String {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : "."
    }

    /// The types that the file declares at its top level.
    fileprivate var declaredTypes: [Substring] {
        let declaration =
            /^(?:(?:public|package|private|fileprivate|final|indirect) )*(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w+)/
        return lines.compactMap { $0.firstMatch(of: declaration)?.output.1 }
    }
}

extension String {
    /// The code of a line, without what stands in quotes or behind `//`.
    fileprivate var withoutStrings: String {
        replacing(/"(?:\\.|[^"\\])*"/, with: "\"\"").replacing(/\/\/.*/, with: "")
    }
}
