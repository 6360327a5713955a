import Foundation
import Testing

/// The house rules that a formatter cannot see.
@Suite struct TidyTests {
    /// What each module may import: what lies below it, and nothing beside it.
    static let layers: [String: Set<String>] = [
        "GodwitTree": ["Crypto", "CZstd", "Synchronization"],
        "GodwitStore": [
            "GodwitTree", "GRDB", "Crypto", "DequeModule", "Metrics", "Foundation",
            "Observation", "Synchronization",
            // SQLite's C interface, by the name that GRDB's build gives it.
            "GRDBSQLite", "SQLCipher", "SQLite3",
        ],
        "GodwitQueue": [
            "GodwitTree", "GodwitStore", "GRDB", "HeapModule", "Foundation", "Metrics", "Logging",
            "Network",
            "Observation", "Synchronization",
        ],
        "GodwitReplication": [
            "GodwitTree", "GodwitStore", "GRDB", "Foundation", "Synchronization",
        ],
        "GodwitPostgreSQL": [
            "GodwitTree", "GodwitStore", "GodwitReplication", "CLibpq", "Dispatch", "Foundation",
            "Logging", "Synchronization",
        ],
        "GodwitConnectors": [
            "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "Foundation",
            "Observation", "Synchronization", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOPosix",
            "NIOSSL",
        ],
        "GodwitServer": [
            "GodwitTree", "GodwitStore", "GodwitReplication", "GodwitPostgreSQL", "Crypto",
            "Foundation", "GRDB", "HTTPTypes", "Hummingbird", "HummingbirdCore", "HummingbirdHTTP2",
            "JWTKit", "Logging", "Metrics", "AsyncHTTPClient",
            "NIOCore", "NIOHTTP1", "NIOSSL", "ServiceLifecycle", "Synchronization",
        ],
        "GodwitYapDatabase": [
            "GodwitTree", "GodwitStore", "GodwitQueue", "GRDB", "Foundation",
        ],
        "Godwit": [
            "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "GodwitConnectors",
            "SwiftUI",
        ],
        "GodwitTestKit": [
            "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "GodwitConnectors",
            "GRDBSQLite", "Foundation", "Synchronization",
        ],
        "GodwitTool": [
            "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "GodwitConnectors",
            "GodwitServer", "GodwitYapDatabase", "GodwitPostgreSQL", "ArgumentParser", "Foundation",
            "Logging", "Metrics", "ServiceLifecycle", "Synchronization", "UnixSignals",
        ],
    ]

    /// The modules and files that decide in values: no clock, no chance, no task, no I/O.
    static func isPure(_ file: SourceFile) -> Bool {
        let folders = [
            "/Schedule/", "/Machine/", "/State/", "/VersionCache.", "/WriteQueue.", "/QueueState",
            "/Waiters.", "/Effect.", "/Content/", "/Conflict/", "/Change/", "/Range/", "/Message/",
            "/Wire/", "/Line/", "/Device/",
        ]
        if file.path.hasSuffix("/DigestMemo.swift") { return false }
        return file.module == "GodwitTree" || folders.contains { file.path.contains($0) }
    }

    static let sources = SourceFile.all(in: "Sources")
    static let everything = sources + SourceFile.all(in: "Tests")

    @Test func `there is something to check`() {
        #expect(Set(Self.sources.map(\.module)) == Set(Self.layers.keys))
        #expect(Self.sources.contains(where: Self.isPure))
    }

    @Test(arguments: sources)
    func `a module imports only what lies below it`(file: SourceFile) {
        let allowed = Self.layers[file.module] ?? []
        for line in file.lines {
            let pattern = /(?:@\w+ )?(?:\w+ )?import (?:(?:struct|enum|class|func) )?(\w+).*/
            guard let match = line.wholeMatch(of: pattern) else { continue }
            #expect(allowed.contains(String(match.1)), "\(file.module) imports \(match.1)")
        }
    }

    @Test(arguments: sources.filter(isPure))
    func `what decides has no clock, chance, task or file`(file: SourceFile) {
        let forbidden =
            /\b(Date\(|UUID\(|Task\b|DispatchQueue|Mutex|await |async |Clock|\.random\(|SystemRandom|FileManager|sleep\()/
        for (number, line) in file.code where line.contains(forbidden) {
            Issue.record("line \(number): \(line)")
        }
    }

    @Test(arguments: everything)
    func `nobody sleeps, and nobody starts what nobody waits for`(file: SourceFile) {
        let forbidden =
            /\b(Task\.detached|Thread\.sleep|usleep\(|XCTSkip|DispatchQueue\.global)|\.disabled\(/
        for (number, line) in file.code where line.contains(forbidden) {
            // The blocks of the documentation show what an app may do.
            guard file.path != "Tests/TidyTests/TidyTests.swift",
                !file.path.hasPrefix("Tests/ExampleBlockTests/Blocks/")
            else { continue }
            Issue.record("line \(number): \(line)")
        }
    }

    @Test(arguments: everything)
    func `a process of a test keeps no pipe of another test open`(file: SourceFile) {
        let isOfTests = file.path.hasPrefix("Tests/Godwit") || file.module == "GodwitTestKit"
        guard isOfTests, !file.path.hasSuffix("/Process+Start.swift") else { return }
        let start = /\bPipe\(\)|[pP]rocess\.run\(\)/
        for (number, line) in file.code where line.contains(start) {
            Issue.record("line \(number) has neither Process.start() nor Pipe.make(): \(line)")
        }
    }

    @Test(arguments: sources)
    func `no thread yields, which costs it a whole time slice on a busy machine`(file: SourceFile) {
        let yield = /sched_yield|pthread_yield/
        for (number, line) in file.code where line.contains(yield) {
            Issue.record("line \(number): \(line)")
        }
    }

    @Test(arguments: sources)
    func `no row is read by a subscript, which stops the program in a damaged file`(
        file: SourceFile
    ) {
        let subscripted = /\brow\[\d/
        for (number, line) in file.code where line.contains(subscripted) {
            Issue.record("line \(number): \(line)")
        }
    }

    @Test(arguments: sources)
    func `a promise to the compiler says why it holds`(file: SourceFile) {
        let promise = /@unchecked Sendable|nonisolated\(unsafe\)|\btry!|\bas!|fatalError\(|unowned/
        for (number, line) in file.code where line.contains(promise) {
            let nearby = file.lines[max(0, number - 3)..<min(number + 2, file.lines.count)]
            #expect(nearby.contains { $0.contains("because") }, "line \(number): \(line)")
        }
    }

    @Test(arguments: everything)
    func `a file can be read in one sitting`(file: SourceFile) {
        #expect(file.lines.count <= 400)
        let unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
        for word in unfinished {
            #expect(!file.lines.contains { $0.contains(word) }, "do it, or open an issue")
        }
    }

    @Test(arguments: everything)
    func `a function can be seen at once`(file: SourceFile) {
        for function in file.functions {
            #expect(function.lineCount <= 60, "\(function.head) has \(function.lineCount) lines")
        }
    }

    @Test(arguments: sources.filter { $0.module == "GodwitTool" })
    func `a terminal of 80 columns shows the lines of a help page as they are`(file: SourceFile) {
        for page in file.helpPages {
            for line in page where line.count > 80 { Issue.record("\(line)") }
        }
    }

    @Test(arguments: sources)
    func `a public type says what it is`(file: SourceFile) {
        let type = /^public (?:final )?(?:struct|class|enum|actor|protocol) (\w+).*/
        for (number, line) in file.code where line.contains(type) {
            var above = number - 2
            while above >= 0, file.lines[above].hasPrefix("@") { above -= 1 }
            #expect(above >= 0 && file.lines[above].hasPrefix("///"), "\(line)")
        }
    }
}

/// A Swift file of this package.
struct SourceFile: CustomTestStringConvertible {
    struct Function {
        let head: String
        let lineCount: Int
    }

    let path: String
    let lines: [String]

    var module: String { String(path.split(separator: "/")[1]) }
    var testDescription: String { path }

    /// The lines that are not comments, with their numbers from 1.
    var code: [(Int, String)] {
        lines.enumerated().map { ($0.offset + 1, $0.element) }
            .filter { !$0.1.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
    }

    /// The functions, from the line that opens each to the one with its closing brace.
    var functions: [Function] {
        // A literal within the loop would be compiled for each line.
        let head = /^\s*(?:[@\w()]+ )*(?:func |init[?(<])/
        return lines.indices.compactMap { start in
            guard lines[start].contains(head) else { return nil }
            // A function on one line ends there.
            if lines[start].hasSuffix("}") { return nil }
            let indentation = lines[start].prefix { $0 == " " }
            guard let end = lines[start...].firstIndex(where: { $0 == indentation + "}" }) else {
                return nil
            }
            return Function(
                head: lines[start].trimmingCharacters(in: .whitespaces),
                lineCount: end - start + 1
            )
        }
    }

    /// The lines of the texts that commands show as their help.
    var helpPages: [[Substring]] {
        lines.indices.filter { lines[$0].hasSuffix("discussion: \"\"\"") }.map { start in
            let page = lines[(start + 1)...].prefix { !$0.contains("\"\"\"") }
            let margin = lines[page.endIndex].prefix { $0 == " " }.count
            return page.map { $0.dropFirst(margin) }
        }
    }

    private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// The text of a file of the project; empty where there is none.
    static func text(of path: String) -> String {
        let data = FileManager.default.contents(atPath: root.appending(path: path).path)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    static func all(in folder: String) -> [SourceFile] {
        let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        return (paths?.allObjects as? [String] ?? [])
            .filter { $0.hasSuffix(".swift") }
            .map { "\(folder)/\($0)" }
            .sorted()
            .map { path in
                SourceFile(path: path, lines: text(of: path).components(separatedBy: "\n"))
            }
    }
}
