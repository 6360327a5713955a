import Foundation
import GodwitTestKit

/// A real git repository for one test, that knows nothing of the user's configuration.
struct Repository {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = [
            "HOME": folder.path("home"), "XDG_CONFIG_HOME": folder.path("home/.config"),
            "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/local/bin:/usr/bin:/bin",
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
            "GIT_EDITOR": "true", "LC_ALL": "C",
        ]
        for name in ["work", "home"] {
            try FileManager.default.createDirectory(
                atPath: folder.path(name),
                withIntermediateDirectories: true
            )
        }
        try git("init", "--quiet", "--initial-branch=main")
    }

    /// Runs git, and the built tool as the driver; the status is that of git.
    @discardableResult
    func git(_ arguments: String...) throws -> Godwit.Result { try run("git", arguments) }

    /// Runs the built tool in the repository.
    @discardableResult
    func godwit(_ arguments: String...) throws -> Godwit.Result {
        try run(BuiltProgram.url("godwit").path, arguments)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> Godwit.Result {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.currentDirectoryURL = folder.url.appending(path: "work")
        process.environment = environment
        return try Godwit.run(process)
    }

    func url(_ name: String) -> URL { URL(filePath: folder.path("work/\(name)")) }

    func write(_ text: String, to name: String) throws {
        try write(Data(text.utf8), to: name)
    }

    func data(_ name: String) throws -> Data {
        try Data(contentsOf: url(name))
    }

    func write(_ data: Data, to name: String) throws {
        try data.write(to: url(name))
    }

    func text(_ name: String) throws -> String {
        String(
            decoding: try Data(contentsOf: url(name)),
            as: UTF8.self
        )
    }

    func hasFile(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.path("work/\(name)"))
    }

    /// Writes a file and commits all that changed.
    func commit(_ text: String, to name: String) throws {
        try write(text, to: name)
        try commitAll(name)
    }

    func commitAll(_ message: String) throws {
        try git("add", "--all")
        try git("commit", "--quiet", "--message", message)
    }

    /// What git holds to be in conflict.
    func unmerged() throws -> [String] {
        try git("diff", "--name-only", "--diff-filter=U", "--no-textconv").output
            .split(separator: "\n").map(String.init)
    }
}
