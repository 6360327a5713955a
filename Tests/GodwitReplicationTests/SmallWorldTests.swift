import Testing

/// All histories of small worlds, to some depth.
@Suite struct SmallWorldTests {
    static let kinds: [(name: String, faults: SmallWorld.Faults, depth: Int)] = [
        ("a good network", SmallWorld.Faults(), 16),
        ("lost messages", SmallWorld.Faults(losses: 2), 9),
        ("doubled messages", SmallWorld.Faults(doubles: 2), 10),
        ("kills", SmallWorld.Faults(kills: 2), 9),
        ("a clone", SmallWorld.Faults(clones: 1), 9),
        ("a restored server", SmallWorld.Faults(serverRestores: 1), 9),
        (
            "a server that is started and restored",
            SmallWorld.Faults(serverStarts: 2, serverRestores: 1), 8
        ),
    ]

    @Test(arguments: kinds.indices)
    func `no history loses, doubles or brings back`(kind: Int) throws {
        let (name, faults, depth) = Self.kinds[kind]
        var worlds: Set = [try SmallWorld(faults: faults)]
        var count = 0
        for _ in 0..<depth {
            var next: Set<SmallWorld> = []
            for world in worlds {
                for step in world.steps { next.insert(try world.after(step)) }
            }
            worlds = next
            count += next.count
        }
        var broken: [String: Int] = [:]
        for world in worlds {
            for problem in try world.problems() { broken[problem, default: 0] += 1 }
        }
        print("\(name): \(count) worlds, \(worlds.count) of them \(depth) steps deep")
        #expect(broken == [:], "\(name)")
    }
}
