import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit

/// An app that is killed again and again.
///
/// `GodwitPushRunner PATH URL alone SEED` edits and pushes until it is killed, and prints a line for
/// each edit that is committed and each answer of the cloud; with `drain` in the place of the seed it
/// pushes what is left, and ends. With `shared` other processes work on the same file.
@main
struct GodwitPushRunner {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let url = URL(string: arguments[2]) else {
            throw CocoaError(.fileReadUnknown)
        }
        let isShared = arguments[3] == "shared"
        let app = try PushApp(path: arguments[1], server: url, isShared: isShared)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.queue.run() }
            if let seed = UInt64(arguments[4]) {
                var random = Seeded(seed: seed)
                while true {
                    try await app.edit(using: &random)
                    say("edited")
                }
            }
            try await app.drain()
            group.cancelAll()
        }
        say("drained")
    }
}

/// Prints a line, and unlike `print` at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
