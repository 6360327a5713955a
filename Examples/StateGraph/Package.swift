// swift-tools-version:6.2
import PackageDescription

// The model behind replication by itself: neither an HTTP client nor a server is fetched or built.
let package = Package(
    name: "state-graph",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "godwit", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "state-graph",
            dependencies: [.product(name: "Godwit", package: "godwit")],
            path: "Sources/StateGraph"
        )
    ],
    swiftLanguageModes: [.v6]
)
