import ArgumentParser
import Foundation
import Testing

@testable import GodwitTool

/// The commands that README and documentation name.
@Suite struct DocumentedCommandTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// A command as a shell would begin it.
    private struct Command: CustomStringConvertible {
        let place: String
        var environment: [String: String] = [:]
        var arguments: [String] = []

        var description: String { "\(place): \(arguments.joined(separator: " "))" }

        /// - Parameter line: A line of a block of shell commands, with those that it goes on in.
        init?(_ line: Substring, in place: String) {
            self.place = place
            var words = Self.words(in: line)
            while let (name, value) = words.first.flatMap(Self.assignment) {
                environment[name] = value
                words.removeFirst()
            }
            guard let name = words.first, name == "godwit" || name.hasSuffix("/godwit") else {
                return nil
            }
            arguments = Array(words.dropFirst())
            // What a server prints.
            if arguments.starts(with: ["is", "listening"]) { return nil }
        }

        private static func assignment(_ word: String) -> (String, String)? {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            return parts.count == 2 && parts[0].hasPrefix("GODWIT_") ? (parts[0], parts[1]) : nil
        }

        /// The words until a comment, a pipe, a redirection or the end of the command.
        private static func words(in line: Substring) -> [String] {
            var words: [String] = []
            for word in line.split(separator: " ") {
                if ["#", "|", ">", "<", "&", "&&", ";"].contains(word) { break }
                // An id that is cut off stands for a whole one.
                let whole = word.replacing(/[0-9a-f]+…/, with: String(repeating: "0", count: 32))
                words.append(whole.filter { $0 != "'" && $0 != "\"" })
            }
            return words
        }
    }

    private static func commands() throws -> [Command] {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.appending(path: "Documentation").path()
        )
        let pages =
            ["README.md"] + names.filter { $0.hasSuffix(".md") }.map { "Documentation/" + $0 }
        return try pages.sorted().flatMap { page -> [Command] in
            let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
            return text.matches(of: /```sh\n(?<block>(?s:.*?))```/).flatMap { match in
                match.output.block.replacing(/\\\n\s*/, with: "").split(separator: "\n")
                    .compactMap { line in
                        Command(line.hasPrefix("$ ") ? line.dropFirst(2) : line[...], in: page)
                    }
            }
        }
    }

    @Test func `each command that the documentation names has these arguments`() throws {
        let commands = try Self.commands()
        #expect(commands.count > 40)
        for command in commands {
            do {
                let parsed = try GodwitTool.Godwit.parseAsRoot(command.arguments)
                guard let serve = parsed as? Serve, serve.config == nil else { continue }
                _ = try serve.resolved(command.environment)
            } catch {
                Issue.record("\(command): \(GodwitTool.Godwit.message(for: error))")
            }
        }
    }
}
