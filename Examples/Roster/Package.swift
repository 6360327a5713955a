// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "roster",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "godwit", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "roster",
            dependencies: [.product(name: "Godwit", package: "godwit")],
            path: "Sources/Roster",
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
