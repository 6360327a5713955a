// World COUNT [FIRST] [--trace]: plays worlds until one breaks a promise, and says which; exits with
// 1 then.
import Foundation

/// Prints at once: a world may end the process.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let arguments = CommandLine.arguments.dropFirst()
let numbers = arguments.compactMap { UInt64($0) }
let first = numbers.dropFirst().first ?? 0
for seed in first..<first + (numbers.first ?? 1) {
    tell("seed \(seed)")
    let world = try World(seed: seed)
    let violation = world.run()
    if arguments.contains("--trace") { tell(world.trace.joined(separator: "\n")) }
    if let violation {
        tell("seed \(seed): \(violation)")
        exit(1)
    }
}
