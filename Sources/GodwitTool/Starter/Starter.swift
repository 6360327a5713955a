import Foundation

/// A package to begin an app with: a list that several devices share, and its server.
///
/// `Examples/Starter` is what it writes for the name Starter; the tests compare the two.
struct Starter {
    let name: String
    /// The argument of `.package(…)` that says where Godwit is.
    let dependency: String

    /// The words that Swift, the starter's own sources or the packages below it have taken.
    private static let taken: Set<String> = [
        "Swift", "Foundation", "Item", "Device", "Any", "Self", "Type", "Protocol", "Logging",
        "Metrics",
        "Crypto", "Hummingbird", "Main",
    ]

    /// - Parameter package: A folder, or a URL.
    /// - Throws: ``ToolError`` if a target cannot have the name.
    init(name: String, package: String) throws(ToolError) {
        let isName = name.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil
        guard isName, !Self.taken.contains(name), !name.hasPrefix("Godwit") else {
            throw ToolError(
                """
                '\(name)' cannot be the name of the app's module: choose another one by --name, \
                such as Shopping
                """
            )
        }
        guard !package.contains("\""), !package.contains("\\"), !package.contains("\n") else {
            throw ToolError("--package has characters that a Package.swift cannot hold: \(package)")
        }
        self.name = name
        let isAddress = package.contains("://") || package.contains("@")
        // A folder is named from where the command runs, and read from where the package lies.
        let path = URL(filePath: package).standardizedFileURL.path
        dependency =
            isAddress
            ? "url: \"\(package)\", from: \"0.1.0\"" : "name: \"godwit\", path: \"\(path)\""
    }

    /// The name that a folder suggests; it may be none.
    static func name(for folder: String) -> String {
        let words = URL(filePath: folder).lastPathComponent.split { !$0.isLetter && !$0.isNumber }
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The text of each file, by its path in the package.
    var files: [String: String] {
        let sources = "Sources/\(name)"
        return [
            "Package.swift": manifest, "README.md": readme, ".gitignore": ".build/\n*.sqlite*\n",
            "\(sources)/Item.swift": Self.item, "\(sources)/Device.swift": Self.device,
            "\(sources)/\(name)App.swift": app,
        ]
    }

    /// Writes the package.
    ///
    /// - Throws: ``ToolError`` if there is something in the folder already, or it cannot be written.
    func write(to folder: String) throws(ToolError) {
        let manager = FileManager.default
        if let found = try? manager.contentsOfDirectory(atPath: folder), !found.isEmpty {
            throw ToolError("\(folder) is not empty: name a new folder")
        }
        do {
            for (path, text) in files {
                let file = URL(filePath: folder).appending(path: path)
                try manager.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(text.utf8).write(to: file, options: .atomic)
            }
        } catch {
            throw ToolError("\(folder) cannot be written: \(error.localizedDescription)")
        }
    }
}
