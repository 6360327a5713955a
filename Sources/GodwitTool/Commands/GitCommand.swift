import ArgumentParser
import Foundation

/// What concerns git.
struct GitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "git",
        abstract: "Let git merge and show JSON with godwit.",
        subcommands: [GitInstall.self]
    )
}

/// Writes git's settings.
struct GitInstall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Let git merge and show JSON with godwit, here or everywhere.",
        discussion: """
            Writes the merge driver and the textconv into git's configuration, and a line
            for each pattern into .gitattributes. The configuration is yours alone,
            .gitattributes can be committed: git merges by lines where godwit is not
            installed. What is there already stays, so the command can be repeated.

            With --global the settings are those of all your repositories: ~/.gitconfig,
            and git's own file of attributes (core.attributesFile, else
            ~/.config/git/attributes).

            To undo it, remove the lines with merge=godwit, and:
              git config --remove-section merge.godwit
              git config --remove-section merge.godwit-base
              git config --remove-section diff.godwit

            EXAMPLES
              godwit git install
              godwit git install '*.json' 'data/*.geojson'
              godwit git install --global
            """
    )

    @Flag(help: "For all repositories of this user.") var global = false
    @Argument(help: "The files, as patterns of .gitattributes.")
    var patterns = ["*.json", "*.geojson", "*.ipynb"]

    func validate() throws {
        for pattern in patterns {
            guard !pattern.isEmpty, !pattern.contains(where: \.isWhitespace) else {
                throw ValidationError("A pattern is one word, such as *.json.")
            }
            // To git these are a negation, a comment, a quotation, a macro and a folder.
            let isOther = ["!", "#", "\"", "[attr]"].contains(where: pattern.hasPrefix)
            if isOther || pattern.hasSuffix("/") {
                throw ValidationError("git takes \(pattern) for no pattern of files.")
            }
        }
    }

    func run() throws {
        let settings = GitSettings(isGlobal: global)
        // Nothing is written where there are no files.
        let file = try settings.attributesFile()
        _ = try settings.content(of: file)
        let program = settings.program
        // git merges the bases of a criss-cross merge with the recursive driver.
        for (key, value) in [
            ("merge.godwit.name", "Merge JSON by its structure"),
            ("merge.godwit.driver", "\(program) merge-driver --marker-size %L %O %A %B -- %P"),
            ("merge.godwit.recursive", "godwit-base"),
            ("merge.godwit-base.name", "Merge the bases of JSON by their structure"),
            (
                "merge.godwit-base.driver",
                "\(program) merge-driver --virtual-base --marker-size %L %O %A %B -- %P"
            ),
            ("diff.godwit.textconv", "\(program) textconv --"),
        ] {
            try Terminal.print(try settings.set(key, to: value))
        }
        for line in try settings.add(patterns, to: file) { try Terminal.print(line) }
    }
}

/// git's configuration and attributes, of one repository or of a user.
private struct GitSettings {
    let isGlobal: Bool

    /// How git calls this program: by its name if the shell finds it, else by its path.
    var program: String {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let isFound = folders.contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/godwit")
        }
        guard !isFound, let path = Bundle.main.executablePath else { return "godwit" }
        return "'" + path.replacing("'", with: "'\\''") + "'"
    }

    /// Writes a setting, and says what has happened.
    func set(_ key: String, to value: String) throws -> String {
        // The one that counts, wherever it stands: in an included file, or in the user's own.
        if let known = try isGlobal
            ? outside("config", "--get", key) : git(["config", "--get", key])
        {
            if known == value { return "\(key) is set already" }
            if !Self.isCall(known, like: value) { return "\(key) stays: \(known)" }
        }
        guard try git(["config", isGlobal ? "--global" : "--local", key, value]) != nil else {
            throw ToolError("git cannot write its configuration: is it locked?")
        }
        return "\(key) = \(value)"
    }

    /// Whether two settings call the program with the same arguments, from different places.
    private static func isCall(_ known: String, like value: String) -> Bool {
        let arguments = value.range(of: " (merge-driver|textconv) .*$", options: .regularExpression)
        guard let arguments, known.hasSuffix(value[arguments]) else { return false }
        let program = known.dropLast(value[arguments].count)
        let isPath = program.hasPrefix("'/") && program.hasSuffix("/godwit'")
        return program == "godwit" || isPath && !program.dropFirst().dropLast().contains("'")
    }

    func attributesFile() throws -> URL {
        guard isGlobal else {
            guard try git(["rev-parse", "--git-dir"]) != nil else {
                throw ToolError("there is no repository here; go into one, or use --global")
            }
            guard let top = try git(["rev-parse", "--show-toplevel"]), !top.isEmpty else {
                throw ToolError("this repository has no files; use --global")
            }
            let file = URL(filePath: top).appending(path: ".gitattributes")
            if (try? FileManager.default.destinationOfSymbolicLink(atPath: file.path)) != nil {
                throw ToolError("\(file.path) is a symbolic link: git does not follow it")
            }
            return file
        }
        let chosen = try outside("config", "--type=path", "--get", "core.attributesFile")
        if let chosen { return URL(filePath: chosen) }
        let environment = ProcessInfo.processInfo.environment
        // As git reads them: an empty variable is none.
        func folder(_ name: String) -> URL? {
            environment[name].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
        }
        let home = folder("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        let folder = folder("XDG_CONFIG_HOME") ?? home.appending(path: ".config")
        return folder.appending(path: "git/attributes")
    }

    /// Adds a line for each pattern that has none, and says what has happened.
    func add(_ patterns: [String], to file: URL) throws -> [String] {
        let known = try content(of: file)
        let lines = String(decoding: known, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.split(whereSeparator: \.isWhitespace) }
        var text = ""
        var report: [String] = []
        for pattern in patterns {
            let others = lines.filter { $0.first.map(String.init) == pattern }.joined()
            if let merge = others.first(where: Self.saysHowToMerge) {
                report.append("\(file.path): \(pattern) has \(merge) already")
                continue
            }
            text += "\(pattern) merge=godwit diff=godwit\n"
            report.append("\(file.path): \(pattern) merge=godwit diff=godwit")
        }
        if !text.isEmpty { try put(text, before: known, in: file) }
        return report
    }

    private static func saysHowToMerge(_ attribute: Substring) -> Bool {
        attribute.hasPrefix("merge=")
            || ["merge", "-merge", "!merge", "binary"].contains(attribute)
    }

    /// What is in a file; nothing where there is none.
    ///
    /// - Throws: ``ToolError`` when there is one that cannot be read: it must stay as it is.
    func content(of file: URL) throws -> Data {
        guard FileManager.default.fileExists(atPath: file.path) else { return Data() }
        guard let data = FileManager.default.contents(atPath: file.path) else {
            throw ToolError("\(file.path) cannot be read")
        }
        return data
    }

    /// Puts lines at the beginning of a file, and makes the file where there is none.
    ///
    /// Of the lines for one file git follows the last: those that are there keep their effect.
    private func put(_ text: String, before content: Data, in file: URL) throws {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        let mark = Data([0xef, 0xbb, 0xbf])
        let start = content.starts(with: mark) ? mark : Data()
        let new = start + Data(text.utf8) + content.dropFirst(start.count)
        guard FileManager.default.fileExists(atPath: file.path) else {
            return try new.write(to: file)
        }
        try ReplacedFile(file.path).replace(with: Array(new))
    }

    /// Runs git outside of all repositories.
    private func outside(_ arguments: String...) throws -> String? {
        try git(["-C", "/"] + arguments)
    }

    /// Runs git and returns what it prints, or nil when it fails.
    private func git(_ arguments: [String]) throws -> String? {
        let result = try Subprocess.run("git", arguments)
        guard result.status == 0 else { return nil }
        return String(decoding: result.output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
