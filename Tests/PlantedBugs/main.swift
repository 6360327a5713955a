// World COUNT: plays worlds until one breaks a promise, and says which; exits with 1 then.
import Foundation

/// Prints at once: a world may end the process.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let count = CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
for seed in 0..<count {
    tell("seed \(seed)")
    let world = try World(seed: seed)
    if let violation = world.run() {
        tell("seed \(seed): \(violation)")
        exit(1)
    }
}
