import ArgumentParser

/// The command line tool: a server, and looks into what travels.
///
/// Exit codes: 0, 1 for a failure, 2 for conflicts left, 64 for misuse.
@main
struct Godwit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "godwit",
        abstract: "Keeps data on many devices, offline and in sync.",
        discussion: """
            EXAMPLES
              godwit serve --port 7007 --store server.sqlite
              godwit replay history.jsonl.xz --server http://127.0.0.1:7007
              godwit diff old.json new.json
              godwit patch old.json change.json > new.json
              godwit merge base.json ours.json theirs.json > merged.json
              godwit git install
              godwit log server.sqlite
              godwit replica ls server.sqlite
              godwit key new phone --store server.sqlite --write shopping
              godwit store ls app.sqlite
              godwit queue why app.sqlite 12.1
              godwit top app.sqlite
              godwit init Shopping
              godwit import yapdatabase old.sqlite --into app.sqlite

            Exit codes: 0, 1 for a failure, 2 for conflicts left, 64 for misuse.
            The commands that git calls answer as git wants it: 1 for conflicts.
            """,
        version: "0.1.0",
        subcommands: [
            Serve.self, StoreCommand.self, QueueCommand.self, Replay.self, Diff.self, Patch.self,
            Merge.self, MergeDriver.self, Textconv.self, GitCommand.self,
            ReplicaCommand.self, Log.self, Graph.self, KeyCommand.self, TokenCommand.self,
            ServerCommand.self, ImportCommand.self, Top.self, Initialize.self, Demo.self,
            DemoDevice.self,
        ]
    )
}
