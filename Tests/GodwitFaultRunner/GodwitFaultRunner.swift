import Foundation
import GodwitStore

/// Runs against a store on disk what tests then disturb: kills, errors, a full disk.
///
/// Everything that is promised is said on standard output, one line each and unbuffered, so that
/// whoever reads it knows what must be there afterwards.
@main struct GodwitFaultRunner {
    /// A run that hangs is over after this; the signal tells that it hung.
    private static let secondsMax: UInt32 = 120

    static func main() async {
        alarm(secondsMax)
        let arguments = CommandLine.arguments.dropFirst()
        let words = arguments.filter { !$0.hasPrefix("--") }
        switch (words.first, words.count) {
        case ("run", 3):
            await run(words[1], at: words[2], options: Set(arguments).subtracting(words))
        case ("endless", 2):
            await Endless(path: words[1]).run { Report.done(mark: "\($0)", commit: 0).print() }
        default:
            print("usage: GodwitFaultRunner run SCENARIO PATH [--acknowledge-early]")
            print("       GodwitFaultRunner endless PATH")
            exit(64)
        }
    }

    private static func run(_ name: String, at path: String, options: Set<String>) async {
        guard let scenario = Scenario.all.first(where: { $0.name == name }) else {
            print("there is no scenario \(name)")
            exit(64)
        }
        let session = Session(
            path: path,
            acknowledgesEarly: options.contains("--acknowledge-early"),
            report: { $0.print() }
        )
        await session.run(scenario)
    }
}
