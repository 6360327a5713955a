import Foundation
import GodwitConnectors
import GodwitTestKit

/// A device that is killed again and again.
///
/// `GodwitSyncRunner PATH URL LAUNCH edit` edits until it is killed, and prints a line before and after
/// each edit; with `found` it makes the lists that all devices edit, and with `settle` it edits nothing.
/// Both end when the device is in sync, and print what it has.
@main
struct GodwitSyncRunner {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let launch = Int64(arguments[3]) else {
            throw CocoaError(.fileReadUnknown)
        }
        let device = try await SyncDevice(path: arguments[1], server: arguments[2])
        let mode = arguments[4]
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await device.connector.run() }
            if mode == "edit" {
                try await device.editForEver(launch: launch)
            } else {
                if mode == "found" { try await device.foundLists() }
                try await device.settle()
            }
            group.cancelAll()
        }
        for line in try await device.report() { say(line) }
        say("done")
    }
}

/// Prints a line, and unlike `print` at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
