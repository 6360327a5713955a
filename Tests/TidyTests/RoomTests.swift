import Testing

/// The rooms of a module: its folders, of which each names only types of those below it.
@Suite struct RoomTests {
    /// The rooms of each module, lowest first; "." is the module's own folder.
    static let rooms = [
        "GodwitTree": [
            "Bytes", "Chunk", "Value", "Canonical", "Policy", "Delta", "Diff", "Merge", "Draft",
            "Text", "Pack", "Interchange",
        ],
        "GodwitStore": [
            "Name", "Coding", "Database", "Object", "Index", "Commit", "Cache", "Transaction",
            "Query",
            "Writer", "Opening", ".", "Observation", "View", "Maintenance",
        ],
        "GodwitQueue": [
            "Conditions", "Effect", "Footprint", "Operation", "Tag", "Schedule", "Machine",
            "Pipeline", "Table", "Transaction", "Status", "State", "Queue", "Observation",
        ],
        "GodwitReplication": [
            "Content", "Conflict", ".", "Change", "State", "Graph", "Range", "Message", "Wire",
            "Line",
            "Device", "Table", "Storage", "Replica", "Server",
        ],
        "GodwitPostgreSQL": [
            "Error", "Connection", "Pool", "Schema", "Table", "Heads", "Storage", ".",
        ],
        "GodwitServer": [
            "Answer", "Metrics", "Access", "Limits", "TLS", "Routes", "Copy", ".",
        ],
    ]

    @Test(arguments: rooms.keys.sorted())
    func `every file of a module is in a room`(module: String) {
        #expect(Set(Self.files(of: module).map(\.room)) == Set(Self.rooms[module] ?? []))
    }

    @Test(arguments: rooms.keys.sorted())
    func `a room names only types of the rooms below it`(module: String) {
        let files = Self.files(of: module)
        var home: [Substring: Set<String>] = [:]
        for file in files {
            for name in file.declaredTypes { home[name, default: []].insert(file.room) }
        }
        #expect(home.count > 20)
        let heights = Dictionary(
            uniqueKeysWithValues: (Self.rooms[module] ?? []).enumerated().map { ($1, $0) }
        )
        // A literal within the loop would be compiled for each line.
        let (quoted, comment, name) = (/"(?:\\.|[^"\\])*"/, /\/\/.*/, /\b[A-Z]\w+/)
        for file in files {
            for (number, line) in file.code {
                let code = line.replacing(quoted, with: "\"\"").replacing(comment, with: "")
                for word in code.matches(of: name).map(\.output) {
                    guard let rooms = home[word], rooms.count == 1, let room = rooms.first,
                        let height = heights[room], let own = heights[file.room]
                    else { continue }
                    #expect(height <= own, "\(file.path):\(number) names \(word) of \(room)")
                }
            }
        }
    }

    private static func files(of module: String) -> [SourceFile] {
        TidyTests.sources.filter { $0.module == module }
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
