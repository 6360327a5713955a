// SyncWorld COUNT [FIRST]: plays worlds until one breaks a promise, and says which; exits with 1 then.
import Foundation

/// Prints at once: a world may end the process.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let first = numbers.dropFirst().first ?? 0
for seed in first..<first + (numbers.first ?? 1) {
    let world = try SyncWorld(seed: seed)
    tell("\(world.faults.name), seed \(seed)")
    guard let violation = world.run() else { continue }
    tell("\(world.faults.name), seed \(seed): \(violation)")
    exit(1)
}
