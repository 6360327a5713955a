// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "godwit", path: "..", traits: [.defaults, "PostgreSQL"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(
            name: "SQLitePeer",
            cSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .executableTarget(
            name: "godwit-merges",
            dependencies: [.product(name: "GodwitTree", package: "godwit")],
            path: "Sources/GodwitMerges",
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        .executableTarget(
            name: "godwit-bench",
            dependencies: [
                "SQLitePeer",
                .product(name: "Godwit", package: "godwit"),
                .product(name: "GodwitPostgreSQL", package: "godwit"),
                .product(name: "GodwitQueue", package: "godwit"),
                .product(name: "GodwitServer", package: "godwit"),
                .product(name: "GodwitTestKit", package: "godwit"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/GodwitBench",
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
    ],
    swiftLanguageModes: [.v6]
)
