import ArgumentParser
import Foundation
import GodwitStore
import GodwitTree

/// Shows what goes on in a store, again and again.
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch a store, its queue and its replicas.",
        discussion: """
            The screen shows commits, collections, the operations that run or wait and
            why, and where replicas stand. The store may be in use: this only looks.
            Ctrl-C ends it. Without a terminal, the command looks once.

            EXAMPLES
              godwit top app.sqlite
              godwit top server.sqlite --every 5
              godwit top app.sqlite --count 10 --json
            """
    )

    @OptionGroup var argument: StoreArgument
    @Option(help: "The seconds between two looks.") var every = 1.0
    @Option(help: "How many times to look; without a terminal, once.") var count: Int?
    @Flag(help: "Print one object, on one line, for each look.") var json = false

    func validate() throws {
        guard every >= 0.1, every <= 86_400 else {
            throw ValidationError("--every is at least 0.1, and at most a day.")
        }
        if let count, count < 1 { throw ValidationError("--count is at least 1.") }
    }

    func run() async throws {
        let store = try argument.reader()
        let isScreen = isatty(STDOUT_FILENO) == 1 && !json
        let countMax = count ?? (isatty(STDOUT_FILENO) == 1 ? .max : 1)
        var last: StoreLook?
        for number in 1...countMax {
            let look = try await StoreLook(store, at: argument.store)
            if json {
                try Terminal.print(look.described.jsonText())
            } else {
                let text = look.text(argument.store, since: last, .standardOutput)
                // Home, and clear what is below: the screen does not flicker.
                let clear = isScreen ? "\u{1b}[H\u{1b}[J" : number > 1 ? "\n" : ""
                try Terminal.print(clear + text)
            }
            last = look
            if number < countMax { try await Task.sleep(for: .seconds(every)) }
        }
        try store.close()
    }
}
