// swift-tools-version:6.2
import PackageDescription

// An app that wants the store and the queue, and talks to a cloud of its own: with the traits
// off, neither an HTTP client nor a server is fetched or built.
let package = Package(
    name: "outbox",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "godwit", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "outbox",
            dependencies: [.product(name: "Godwit", package: "godwit")],
            path: "Sources/Outbox"
        )
    ],
    swiftLanguageModes: [.v6]
)
