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

    init() {}

    init(_ store: String, name: String?) { (replica, self.name) = (store, name) }

    /// The replica, read beside programs that write to the store.
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
            try Terminal.print(json: record.encoded)
        } else {
            try Terminal.print(record.lines.joined(separator: "\n"))
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
        try Data(StateDrawing(record).svg.utf8).write(to: URL(filePath: svg))
        if json {
            var object = record.encoded.map ?? [:]
            object["svg"] = .string(Key(svg))
            try Terminal.print(json: .map(object))
        } else {
            try Terminal.print("\(record.stateCount) states drawn in \(svg)")
        }
    }
}

extension ReplicaRecord {
    /// How many states are kept, the root not counted.
    var stateCount: Int { states.count - 1 }

    /// A state's refs, in one word each.
    func refNames(of state: LineState) -> [String] { refs.filter { $0.state == state }.map(\.name) }

    fileprivate var lines: [String] {
        let lines = states.reversed().map { state in
            let refs = refNames(of: state.state)
            let names = refs.isEmpty ? "" : " (\(refs.joined(separator: ", ")))"
            guard state.state != .root else { return "\(state.state.id.short) root\(names)" }
            let (id, serial) = (state.state.id.short, state.state.serial)
            return "\(id) #\(serial)\(names) \(state.sizeInBytes) B  \(state.summary)"
        }
        let objects = pendingCount == 1 ? "object" : "objects"
        return (pendingCount > 0 ? ["         local changes of \(pendingCount) \(objects)"] : [])
            + lines
    }

    fileprivate var encoded: Value {
        [
            "name": .string(Key(name)),
            "role": .string(Key(role.rawValue)),
            "statesKept": .int(Int64(stateCount)),
            "pendingObjects": .int(Int64(pendingCount)),
            "states": .list(Value.List(states.reversed().map { encoded($0) })),
        ]
    }

    private func encoded(_ state: State) -> Value {
        [
            "id": .string(Key(state.state.id.description)),
            "serial": .int(state.state.serial),
            "bytes": .int(Int64(state.sizeInBytes)),
            "refs": .list(Value.List(refNames(of: state.state).map { .string(Key($0)) })),
        ]
    }
}

extension ReplicaRecord.State {
    /// The changes in one short line.
    var summary: String {
        guard let changes else { return state == .root ? "" : "earlier changes, folded away" }
        guard let (key, delta) = changes.first, changes.count == 1, sizeInBytes < 2_000 else {
            return changes.isEmpty ? "" : "\(changes.count) objects"
        }
        let text = "\(key.collection.text)/\(key.key.text) \(delta.text)"
        return text.count > 80 ? text.prefix(79) + "…" : text
    }
}

extension ObjectDelta {
    fileprivate var text: String {
        switch change {
        case .remove: "removed"
        case .apply(let delta): delta.ednText()
        }
    }
}
