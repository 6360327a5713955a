extension LineWorld {
    /// Worlds in which different things go wrong.
    static let kinds: [(name: String, faults: Faults)] = [
        ("a good network", Faults(loss: 0, races: false)),
        ("a bad network", Faults(loss: 0.4)),
        ("rejections", Faults(rejections: true)),
        ("clones", Faults(clones: true)),
        ("restored devices", Faults(deviceRestores: true)),
        ("a restored server", Faults(serverRestores: 1)),
        ("a server that is restored again", Faults(serverRestores: 3)),
        (
            "devices that are restored after the server",
            Faults(deviceRestores: true, serverRestores: 1, disaster: true)
        ),
        ("clones when the server is restored", Faults(clones: true, disaster: true)),
        (
            "all at once",
            Faults(clones: true, deviceRestores: true, serverRestores: 1, rejections: true)
        ),
    ]
}
