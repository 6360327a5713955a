import ArgumentParser
import Foundation
import GodwitReplication
import GodwitStore
import GodwitTree

/// Which replica a command looks at.
struct ReplicaArgument: ParsableArguments {
    @Argument(help: "The store that holds the replica: a server's, or a device's.")
    var replica: String
    @Option(help: "The replica's name, where the store holds several.") var name: String?

    /// The replica, read beside whoever writes to the store.
    func record() async throws -> ReplicaRecord {
        let store = try Store(.file(replica), options: .readOnly)
        let all = try await ReplicaRecord.all(in: store)
        try store.close()
        let matches = all.filter { name == nil || $0.name == name }
        guard let first = matches.first else {
            throw ToolError("\(replica) holds no replica" + (name.map { " \"\($0)\"" } ?? ""))
        }
        guard matches.count == 1 else {
            let names = matches.map { "\($0.name) (\($0.role.rawValue))" }
            throw ToolError("\(replica) holds \(names.joined(separator: ", ")): choose with --name")
        }
        return first
    }
}

/// Lists the states of a replica.
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the states that a replica keeps, newest first.",
        discussion: """
            The store may be in use: this only looks.

            EXAMPLES
              godwit log server.sqlite
              godwit log device.sqlite --name shopping --json
            """
    )

    @OptionGroup var argument: ReplicaArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let record = try await argument.record()
        if json {
            Terminal.print(json: record.encoded)
        } else {
            Terminal.print(record.lines.joined(separator: "\n"))
        }
    }
}

/// Draws the states of a replica.
struct Graph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw the states that a replica keeps, with their refs.",
        discussion: """
            EXAMPLES
              godwit graph server.sqlite --svg states.svg
            """
    )

    @OptionGroup var argument: ReplicaArgument
    @Option(help: "The file to draw into.") var svg: String
    @Flag(help: "Print one object: the replica, and the file.") var json = false

    func run() async throws {
        let record = try await argument.record()
        try Data(StateGraph(record).svg.utf8).write(to: URL(filePath: svg))
        if json {
            var object = record.encoded.map ?? [:]
            object["svg"] = .string(Key(svg))
            Terminal.print(json: .map(object))
        } else {
            Terminal.print("\(record.history.stateCount) states drawn in \(svg)")
        }
    }
}

extension ReplicaRecord {
    /// A state's refs, in one word each.
    func refNames(of id: StateID) -> [String] { refs.filter { $0.state == id }.map(\.name) }

    fileprivate var lines: [String] {
        let states = history.states.reversed().map { state in
            let refs = refNames(of: state.id)
            let names = refs.isEmpty ? "" : " (\(refs.joined(separator: ", ")))"
            guard state.id != .root else { return "\(state.id.short) root\(names)" }
            return
                "\(state.id.short) #\(state.serial)\(names) \(state.sizeInBytes) B  \(state.summary)"
        }
        let unnamed = tailSizeInBytes
        return (unnamed > 0 ? ["         local changes, \(unnamed) B"] : []) + states
    }

    fileprivate var encoded: Value {
        [
            "name": .string(Key(name)),
            "role": .string(Key(role.rawValue)),
            "statesKept": .int(Int64(history.stateCount)),
            "unsentBytes": .int(Int64(tailSizeInBytes)),
            "states": .list(
                history.states.reversed().map { state in
                    [
                        "id": .string(Key(state.id.description)),
                        "serial": .int(state.serial),
                        "bytes": .int(Int64(state.sizeInBytes)),
                        "refs": .list(refNames(of: state.id).map { .string(Key($0)) }),
                    ]
                }
            ),
        ]
    }
}

extension History.State {
    var sizeInBytes: Int { parts.reduce(0) { $0 + $1.sizeInBytes } }

    /// The delta in one short line.
    var summary: String {
        guard let first = parts.first else { return "" }
        guard parts.count == 1, first.sizeInBytes < 2_000 else { return "\(parts.count) deltas" }
        let text = first.delta.ednText()
        return text.count > 80 ? text.prefix(79) + "…" : text
    }
}
