// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// Tests are compiled in half the time without optimisation. Those of the tree and those that play worlds and
// merges take their time by themselves, and are optimised.
let testSettings = settings + [.unsafeFlags(["-Onone"])]

// The blocks of the documentation show results that nothing uses.
let exampleSettings = settings.dropLast() + [.unsafeFlags(["-Onone", "-suppress-warnings"])]

let http: TargetDependencyCondition? = .when(traits: ["HTTP"])
let server: TargetDependencyCondition? = .when(traits: ["Server"])
let postgreSQL: TargetDependencyCondition? = .when(traits: ["PostgreSQL"])

let package = Package(
    name: "godwit",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Godwit", targets: ["Godwit"]),
        .library(name: "GodwitTree", targets: ["GodwitTree"]),
        .library(name: "GodwitStore", targets: ["GodwitStore"]),
        .library(name: "GodwitQueue", targets: ["GodwitQueue"]),
        .library(name: "GodwitReplication", targets: ["GodwitReplication"]),
        .library(name: "GodwitPostgreSQL", targets: ["GodwitPostgreSQL"]),
        .library(name: "GodwitConnectors", targets: ["GodwitConnectors"]),
        .library(name: "GodwitServer", targets: ["GodwitServer"]),
        .library(name: "GodwitYapDatabase", targets: ["GodwitYapDatabase"]),
        .library(name: "GodwitTestKit", targets: ["GodwitTestKit"]),
        .executable(name: "godwit", targets: ["GodwitTool"]),
    ],
    traits: [
        .trait(name: "HTTP", description: "The HTTP client that talks to a Godwit server."),
        .trait(name: "Server", description: "The sync server over HTTP."),
        .trait(name: "Zstd", description: "Compression of what is sent; needs libzstd."),
        .trait(
            name: "PostgreSQL",
            description: "PostgreSQL under the sync server; needs libpq 14, its tests PostgreSQL."
        ),
        .default(enabledTraits: ["HTTP", "Server", "Zstd"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird",
            from: "2.28.1",
            traits: []
        ),
    ],
    targets: [
        .target(
            name: "GodwitTree",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"),
                .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]
        ),
        .target(
            name: "GodwitStore",
            dependencies: [
                "GodwitTree",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "GodwitQueue",
            dependencies: [
                "GodwitTree", "GodwitStore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "GodwitReplication",
            dependencies: [
                "GodwitTree", "GodwitStore",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .systemLibrary(
            name: "CLibpq",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(
            name: "GodwitPostgreSQL",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitReplication",
                .target(name: "CLibpq", condition: postgreSQL),
                .product(name: "Logging", package: "swift-log", condition: postgreSQL),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "GodwitConnectors",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: http),
                .product(name: "NIOCore", package: "swift-nio", condition: http),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: http),
                .product(name: "NIOPosix", package: "swift-nio", condition: http),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: http),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "GodwitServer",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitReplication",
                .target(name: "GodwitPostgreSQL", condition: postgreSQL),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto", condition: server),
                .product(name: "Hummingbird", package: "hummingbird", condition: server),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
                .product(name: "JWTKit", package: "jwt-kit", condition: server),
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: server),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: server),
                .product(name: "HummingbirdHTTP2", package: "hummingbird", condition: server),
                .product(name: "NIOCore", package: "swift-nio", condition: server),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: server),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: server),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: server
                ),
            ],
            resources: [.embedInCode("Dashboard"), .embedInCode("Demo"), .embedInCode("API")],
            swiftSettings: settings
        ),
        .target(
            name: "GodwitYapDatabase",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Godwit",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "GodwitConnectors",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "GodwitTestKit",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "GodwitConnectors",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitTool",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication",
                "GodwitConnectors", "GodwitServer", "GodwitYapDatabase",
                .target(name: "GodwitPostgreSQL", condition: postgreSQL),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: server
                ),
                .product(
                    name: "UnixSignals",
                    package: "swift-service-lifecycle",
                    condition: server
                ),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GodwitTreeTests",
            dependencies: ["GodwitTree", "GodwitTestKit"],
            exclude: ["Golden", "json_patch_peer.py", "Regressions"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitFaultRunner",
            dependencies: [
                "GodwitTree", "GodwitStore", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/GodwitFaultRunner",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitPushRunner",
            dependencies: ["GodwitTree", "GodwitStore", "GodwitQueue", "GodwitTestKit"],
            path: "Tests/GodwitPushRunner",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitSyncRunner",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication", "GodwitConnectors",
                "GodwitTestKit",
            ],
            path: "Tests/GodwitSyncRunner",
            swiftSettings: settings
        ),
        .testTarget(
            name: "GodwitStoreTests",
            dependencies: [
                "GodwitTree",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                "GodwitStore", "GodwitTestKit", "GodwitFaultRunner",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Golden"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GodwitQueueTests",
            dependencies: [
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitTestKit",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Golden"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GodwitWorldTests",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitTestKit",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GodwitSyncWorldTests",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitReplication",
                "GodwitConnectors", "GodwitTestKit",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GodwitYapDatabaseTests",
            dependencies: [
                "GodwitTree", "GodwitStore", "GodwitQueue", "GodwitYapDatabase", "GodwitTestKit",
                "GodwitTool",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GodwitReplicationTests",
            dependencies: [
                "GodwitStore", "GodwitTree",
                "GodwitReplication", "GodwitTestKit",
                .target(name: "GodwitPostgreSQL", condition: postgreSQL),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "GodwitPostgreSQLTests",
            dependencies: [
                "GodwitStore", "GodwitTree",
                "GodwitPostgreSQL", "GodwitReplication", "GodwitTestKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GodwitConnectorsTests",
            dependencies: [
                "GodwitQueue", "GodwitReplication", "GodwitStore", "GodwitTree",
                "GodwitConnectors", "GodwitServer", "GodwitTestKit",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GodwitServerTests",
            dependencies: [
                "GodwitReplication", "GodwitTree",
                "GodwitServer", "GodwitConnectors", "GodwitTestKit", "GodwitQueue", "GodwitStore",
                "GodwitPushRunner",
                .target(name: "GodwitPostgreSQL", condition: postgreSQL),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: server),
                .product(name: "Hummingbird", package: "hummingbird", condition: server),
                .product(
                    name: "InMemoryTracing",
                    package: "swift-distributed-tracing",
                    condition: server
                ),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["Certificates"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GodwitToolTests",
            dependencies: [
                "GodwitQueue", "GodwitReplication", "GodwitServer", "GodwitStore", "GodwitTree",
                "GodwitTool", "GodwitConnectors", "GodwitTestKit", "GodwitSyncRunner",
                "GodwitHouseholdExample", "GodwitStarterExample", "GodwitFooBarCloudExample",
                "GodwitTreesystemExample",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: testSettings
        ),
        // The names of targets are shared with the apps that depend on this package.
        .executableTarget(
            name: "GodwitHouseholdExample",
            dependencies: ["Godwit", .target(name: "GodwitServer", condition: server)],
            path: "Examples/Household/Sources",
            packageAccess: false,
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitStarterExample",
            dependencies: ["Godwit", .target(name: "GodwitServer", condition: server)],
            path: "Examples/Starter/Sources/Starter",
            packageAccess: false,
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitFooBarCloudExample",
            dependencies: ["Godwit"],
            path: "Examples/FooBarCloud/Sources",
            packageAccess: false,
            swiftSettings: settings
        ),
        .executableTarget(
            name: "GodwitTreesystemExample",
            dependencies: ["Godwit"],
            path: "Examples/Treesystem/Sources",
            packageAccess: false,
            swiftSettings: settings
        ),
        .testTarget(
            name: "ExampleBlockTests",
            dependencies: [
                "GodwitConnectors", "GodwitQueue", "GodwitReplication", "GodwitStore", "GodwitTree",
                "Godwit", "GodwitServer", "GodwitYapDatabase", "GodwitTestKit",
                .target(name: "GodwitPostgreSQL", condition: postgreSQL),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird", condition: server),
                .product(name: "Logging", package: "swift-log"),
            ],
            packageAccess: false,
            swiftSettings: Array(exampleSettings)
        ),
        .testTarget(name: "TidyTests", swiftSettings: testSettings),
    ],
    swiftLanguageModes: [.v6]
)
