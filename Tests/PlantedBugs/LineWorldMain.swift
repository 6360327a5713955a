// LineWorld COUNT [FIRST]: plays worlds of every kind until one breaks a promise, and says which; exits
// with 1 then. With GODWIT_TRACE=1, each step is printed.
import Foundation

/// Prints at once: a world may end the process.
func tell(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let first = numbers.dropFirst().first ?? 0
for seed in first..<first + (numbers.first ?? 1) {
    let (name, faults) = LineWorld.kinds[Int(seed) % LineWorld.kinds.count]
    tell("\(name), seed \(seed)")
    var world = LineWorld(seed: seed, devices: 2 + Int(seed % 3), faults: faults)
    world.isTraced = ProcessInfo.processInfo.environment["GODWIT_TRACE"] != nil
    world.run(steps: 150)
    guard let problem = world.problems.first else { continue }
    tell("\(name), seed \(seed): \(problem)")
    exit(1)
}
