import GodwitTree

extension Scenario {
    /// The scenarios, a line or two each; a new one needs nothing but its place here.
    static let all = objects + sizes + aborts + lives + groups + hooks

    private static let small: Value = ["name": "Bread", "count": 2, "tags": ["a", "b"]]
    private static let large = bytes(100_000)

    private static func bytes(_ count: Int, seed: Int = 7) -> Value {
        .bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ seed) })
    }

    private static let objects = [
        Scenario("set", .write(.set("a", to: small))),
        Scenario("set-two", .write(.set("a", to: 1)), .write(.set("b", to: 2))),
        Scenario("overwrite", .write(.set("a", to: 1)), .write(.set("a", to: small))),
        Scenario("set-the-same", .write(.set("a", to: 1)), .write(.set("a", to: 1))),
        Scenario("remove", .write(.set("a", to: small)), .write(.remove("a"))),
        Scenario("remove-nothing", .write(.remove("a")), .write(.set("b", to: 1))),
        Scenario(
            "remove-and-set-again",
            .write(.set("a", to: 1)),
            .write(.remove("a"), .set("a", to: 2))
        ),
        Scenario(
            "two-collections",
            .write(.set("a", to: 1), .set("a", to: 2, in: "others")),
            .write(.set("a", to: 3), .remove("a", in: "others"))
        ),
        Scenario(
            "move",
            .write(.set("a", to: small)),
            .write(.move("a", from: "things", to: "others")),
            .write(.move("a", from: "others", to: "things"))
        ),
        Scenario(
            "count-up",
            .write(.increase("a")),
            .write(.increase("a")),
            .reopen,
            .write(.increase("a"))
        ),
        Scenario(
            "strange-keys",
            .write(.set("", to: 1), .set("e\u{301}", to: 2), .set("\u{e9}", to: 3)),
            .write(.set("\u{0}", to: 4), .set("\u{0}a", to: 5)),
            .write(.remove("\u{e9}"), .set("😀", to: .null))
        ),
        Scenario(
            "strange-values",
            .write(.set("a", to: .null), .set("b", to: []), .set("c", to: [:])),
            .write(.set("a", to: 0.1), .set("b", to: .int(.min)), .set("c", to: ""))
        ),
        Scenario(
            "own-table",
            .write(.insertRow("a", 1), .set("a", to: 1)),
            .write(.insertRow("a", 2), .insertRow("b", 3), .remove("a"))
        ),
    ]

    private static let sizes = [
        Scenario("large", .write(.set("a", to: large))),
        Scenario(
            "large-overwritten",
            .write(.set("a", to: large)),
            .write(.set("a", to: bytes(100_000, seed: 8)))
        ),
        Scenario(
            "large-shrinks",
            .write(.set("a", to: large)),
            .write(.set("a", to: 1)),
            .write(.set("b", to: large))
        ),
        Scenario("large-removed", .write(.set("a", to: large)), .write(.remove("a")), .reopen),
        Scenario("long-key", .write(.set(Key(String(repeating: "k", count: 3_000)), to: 1))),
        Scenario("many-at-once", .write(.fill(300)), .write(.fill(300, from: 150))),
        Scenario(
            "many-one-by-one",
            .write(.fill(1)),
            .write(.fill(2)),
            .write(.fill(3)),
            .write(.fill(4)),
            .write(.fill(5)),
            .write(.fill(6)),
            .write(.fill(7)),
            .write(.fill(8))
        ),
        Scenario(
            "remove-all",
            .write(.fill(200)),
            .write(.removeAll()),
            .reopen,
            .write(.fill(5))
        ),
        Scenario("replace-all", .write(.fill(100)), .write(.removeAll(), .fill(100, from: 50))),
        Scenario(
            "log-overflows",
            .write(.all((0..<44).map { .set(Key("l\($0)"), to: bytes(100_000, seed: $0)) })),
            .write(.set("a", to: 1)),
            .write(.set("l7", to: small))
        ),
    ]

    private static let aborts = [
        Scenario("throw", .abandon(.set("a", to: 1)), .write(.set("b", to: 2))),
        Scenario(
            "throw-between",
            .write(.set("a", to: 1)),
            .abandon(.set("a", to: 2), .remove("a")),
            .write(.set("b", to: 3))
        ),
        Scenario("throw-after-large", .abandon(.set("a", to: large)), .write(.set("a", to: 1))),
        Scenario(
            "throw-after-many",
            .write(.fill(10)),
            .abandon(.removeAll(), .fill(300)),
            .reopen,
            .write(.fill(20))
        ),
        Scenario(
            "throw-with-own-table",
            .write(.insertRow("a", 1)),
            .abandon(.insertRow("b", 2)),
            .write(.insertRow("c", 3))
        ),
    ]

    private static let lives = [
        Scenario("reopen", .write(.set("a", to: 1)), .reopen, .write(.set("b", to: 2))),
        Scenario(
            "reopen-always",
            .reopen,
            .write(.fill(2)),
            .reopen,
            .write(.fill(4)),
            .reopen,
            .write(.fill(6)),
            .reopen
        ),
        Scenario("reopen-only", .reopen, .reopen),
        Scenario(
            "read-between",
            .read,
            .write(.set("a", to: 1)),
            .read,
            .write(.set("a", to: 2)),
            .read,
            .read
        ),
        Scenario(
            "checkpoint",
            .write(.set("a", to: small)),
            .checkpoint,
            .write(.set("a", to: 2)),
            .checkpoint,
            .write(.fill(20))
        ),
        Scenario(
            "checkpoint-large",
            .write(.set("a", to: large)),
            .checkpoint,
            .write(.remove("a")),
            .checkpoint,
            .reopen
        ),
        Scenario(
            "writers-together",
            .together((0..<6).map { [.set(Key("w\($0)"), to: small)] }),
            .write(.set("w0", to: 1))
        ),
        Scenario(
            "writers-together-again",
            .together((0..<4).map { [.set(Key("w\($0)"), to: small)] }),
            .together((0..<4).map { [.set(Key("w\($0)"), to: 1), .set(Key("v\($0)"), to: 2)] }),
            .reopen
        ),
        Scenario(
            "large-together",
            .together([[.set("a", to: large)], [.set("b", to: bytes(60_000))], [.fill(50)]])
        ),
    ]

    private static let groups = [
        Scenario(
            "grouped",
            .grouped((0..<6).map { [.set(Key("g\($0)"), to: small)] }),
            .grouped((0..<6).map { [.set(Key("g\($0)"), to: 1), .set(Key("h\($0)"), to: 2)] })
        ),
        Scenario(
            "grouped-on-one-object",
            .grouped((0..<5).map { _ in [.increase("a")] }),
            .reopen,
            .grouped((0..<5).map { _ in [.increase("a")] })
        ),
        Scenario(
            "metadata",
            .write(.set("a", to: small), .describe("a", as: ["etag": "1"])),
            .write(.describe("a", as: large)),
            .write(.set("a", to: 2), .describe("a", as: .null))
        ),
    ]

    private static let hooks = [
        Scenario(
            "hook-derives",
            .mirror,
            .write(.setMirrored("a", to: 1)),
            .write(.setMirrored("a", to: small))
        ),
        Scenario(
            "hook-derives-removal",
            .mirror,
            .write(.setMirrored("a", to: 1)),
            .write(.removeMirrored("a")),
            .write(.setMirrored("b", to: large))
        ),
        Scenario(
            "hook-refuses",
            .mirror,
            .write(.setMirrored("a", to: 1)),
            .abandon(.set("a", to: 13)),
            .write(.setMirrored("b", to: 2))
        ),
    ]
}
