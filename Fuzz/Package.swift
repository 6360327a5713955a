// swift-tools-version:6.2
import PackageDescription

// Runs under libFuzzer, which brings the main function: build it with `--sanitize=fuzzer`, as
// Scripts/fuzz does. Nothing but the tree is built, with what it needs.
let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "godwit", path: "..", traits: ["Zstd"])],
    targets: [
        .executableTarget(
            name: "godwit-fuzz",
            dependencies: [.product(name: "GodwitTree", package: "godwit")],
            path: "Sources/GodwitFuzz",
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
