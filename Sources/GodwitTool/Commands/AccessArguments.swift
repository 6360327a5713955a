import ArgumentParser
import GodwitServer
import GodwitTree

/// The rights that a key or a token gets.
struct RightsArguments: ParsableArguments {
    @Option(help: "Replicas that may be followed: a name, or its beginning and *; repeatable.")
    var read: [String] = []
    @Option(help: "Replicas that may be changed; that includes --read.") var write: [String] = []
    @Option(help: "Replicas that may be made; that includes --write.") var create: [String] = []
    @Option(help: "Replicas that may be cared for; that includes --create.")
    var administer: [String] = []

    func validate() throws {
        guard ![read, write, create, administer].allSatisfy(\.isEmpty) else {
            throw ValidationError(
                "Give --read, --write, --create or --administer, such as 'acme.*'."
            )
        }
        do throws(AccessError) { _ = try rights() } catch { throw ValidationError("\(error)") }
    }

    func rights() throws(AccessError) -> Rights {
        func patterns(_ texts: [String]) throws(AccessError) -> [ReplicaPattern] {
            try texts.map { text throws(AccessError) in try ReplicaPattern(text) }
        }
        return Rights([
            .read: try patterns(read), .write: try patterns(write),
            .create: try patterns(create), .administer: try patterns(administer),
        ])
    }
}

extension Rights {
    /// `read acme.*, write acme.orders`.
    var words: String {
        Permission.allCases.flatMap { permission in
            self[permission].map { "\(permission) \($0.text)" }
        }.joined(separator: ", ")
    }
}

/// For how long a key or a token is good: `90d`, `12h`, `15m`, `30s`; a number alone means days.
struct Lifetime: ExpressibleByArgument, CustomStringConvertible {
    let seconds: Int64

    init(hours: Int64) { seconds = hours * 3_600 }

    init?(argument: String) {
        let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
        let unit = argument.last.flatMap { units[$0] }
        guard let count = Int64(unit == nil ? argument[...] : argument.dropLast()),
            (1...3_000_000_000).contains(count)
        else { return nil }
        seconds = count * (unit ?? 86_400)
        guard seconds <= 36_500 * 86_400 else { return nil }
    }

    var description: String { seconds % 3_600 == 0 ? "\(seconds / 3_600)h" : "\(seconds)s" }
    var defaultValueDescription: String { description }
}
