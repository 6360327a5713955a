import Foundation
import GodwitTestKit
import Testing

/// `godwit init`, and the package that it writes.
@Suite struct StarterTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The starter that is built with the tests, so that its sources compile.
    private static let example = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Examples/Starter").standardizedFileURL

    private static func files(in folder: URL) throws -> [String: String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return paths.filter { !$0.hasPrefix(".build") && !$0.hasSuffix(".resolved") }
            .reduce(into: [:]) { files, path in
                let url = folder.appending(path: path)
                if !url.hasDirectoryPath, let data = FileManager.default.contents(atPath: url.path)
                {
                    files[path] = String(decoding: data, as: UTF8.self)
                }
            }
    }

    @Test func `the starter package is the one that the tests have compiled`() throws {
        let path = folder.path("starter")
        let made = try Godwit.run("init", path, "--name", "Starter")
        #expect(made.status == 0 && made.output.contains("swift run Starter serve"))
        let files = try Self.files(in: URL(filePath: path))
        #expect(files.count == 6)
        // Where Godwit is differs.
        let lines = { (text: String) in
            text.split(separator: "\n").filter { !$0.contains("path: ") }
        }
        let example = try Self.files(in: Self.example)
        #expect(files.mapValues(lines) == example.mapValues(lines))
    }

    @Test func `the app takes the name of its folder, and Godwit from where the tool was built`()
        throws
    {
        let path = folder.path("my-list")
        #expect(try Godwit.run("init", path).status == 0)
        let files = try Self.files(in: URL(filePath: path))
        #expect(files["Sources/MyList/MyListApp.swift"]?.contains("struct MyListApp") == true)
        let root = Self.example.appending(path: "../..").standardizedFileURL.path
        let dependency = ".package(name: \"godwit\", path: \"\(root)\")"
        #expect(files["Package.swift"]?.contains(dependency) == true)
        let other = folder.path("other")
        _ = try Godwit.run("init", other, "--package", "https://example.com/godwit")
        let manifest = try Self.files(in: URL(filePath: other))["Package.swift"]
        #expect(manifest?.contains("url: \"https://example.com/godwit\", from: \"0.1.0\"") == true)
    }

    @Test func `a folder with something in it, and a name that Swift cannot take, are refused`()
        throws
    {
        try folder.write("mine", to: "mine.txt")
        let full = try Godwit.run("init", folder.path("."), "--name", "Shop")
        #expect(full.status == 1 && full.errors.contains("is not empty: name a new folder"))
        for name in ["shop", "7", "A-b", "Godwit", "GodwitStore", "Item", "Self", ""] {
            let result = try Godwit.run("init", folder.path("new"), "--name", name)
            #expect(result.status == 1 && result.errors.contains("choose another one by --name"))
        }
        let package = "a\", from: \"1.0.0"
        let result = try Godwit.run("init", folder.path("New"), "--package", package)
        #expect(result.status == 1 && result.errors.contains("cannot hold"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("new")))
    }

    @Test(arguments: ["Household", "FooBarCloud", "Treesystem"])
    func `an example prints its story`(name: String) throws {
        let story = Self.example.appending(path: "../\(name)/story.txt")
        let printed = try Godwit.run(example(name))
        #expect(printed.status == 0, "\(printed.errors)")
        #expect(try printed.output == String(contentsOf: story, encoding: .utf8))
    }

    @Test func `the starter keeps a list without a network`() throws {
        let usage = try Godwit.run(example("Starter"))
        #expect(usage.output.hasPrefix("usage: Starter serve"))
        for name in ["Wine", "Bread", "Wine"] {
            #expect(try Godwit.run(example("Starter", "phone", "add", name)).status == 0)
        }
        #expect(try Godwit.run(example("Starter", "phone", "cross", "Bread")).status == 0)
        let list = try Godwit.run(example("Starter", "phone", "list"))
        #expect(list.output == "2 x Wine\n")
    }

    /// A built example, to be run in the temporary folder.
    private func example(_ name: String, _ arguments: String...) -> Process {
        let process = Process()
        process.executableURL = BuiltProgram.url("Godwit\(name)Example")
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        return process
    }
}
