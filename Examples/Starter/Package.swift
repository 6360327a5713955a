// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "Starter",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "godwit", path: "../..")],
    targets: [
        .executableTarget(
            name: "Starter",
            dependencies: [
                .product(name: "Godwit", package: "godwit"),
                .product(name: "GodwitServer", package: "godwit"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
