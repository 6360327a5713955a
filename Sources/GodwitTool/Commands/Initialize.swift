import ArgumentParser
import Foundation

/// Writes a package to begin an app with.
struct Initialize: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Write a starter package: a shared list with a store, a replica and a server.",
        discussion: """
            The package builds and runs as it is: two devices edit a list offline and
            keep it in sync through a server of their own. Its README has the commands.

            EXAMPLES
              godwit init Shopping
              godwit init lists/shopping --name Shopping --package ../godwit
            """
    )

    @Argument(help: "The folder of the new package.") var folder: String
    @Option(help: "The name of the app; without it, the folder's.") var name: String?
    @Option(help: "Where Godwit is, a folder or a URL; without it, where this tool was built.")
    var package: String?

    func run() throws {
        guard let package = package ?? Self.ownPackage else {
            throw ToolError(
                "this tool was not built in a copy of Godwit: say where it is by --package"
            )
        }
        let starter = try Starter(name: name ?? Starter.name(for: folder), package: package)
        try starter.write(to: folder)
        let files = starter.files.keys.sorted().map { "  \($0)" }.joined(separator: "\n")
        try Terminal.print(
            "\(folder) has a new package:\n\(files)\nNext: cd \(folder) && swift run \(starter.name) serve"
        )
    }

    /// The folder of the package that the tool was built in.
    private static var ownPackage: String? {
        var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        if !FileManager.default.fileExists(atPath: "/proc/self/exe") {
            folder = Bundle.main.executableURL?.resolvingSymlinksInPath() ?? folder
        }
        while folder.pathComponents.count > 1 {
            folder.deleteLastPathComponent()
            let manifest = try? String(
                contentsOf: folder.appending(path: "Package.swift"),
                encoding: .utf8
            )
            let tool = folder.appending(path: "Sources/GodwitTool").path
            let isGodwit = manifest?.contains("name: \"godwit\",") == true
            if isGodwit, FileManager.default.fileExists(atPath: tool) { return folder.path }
        }
        return nil
    }
}
