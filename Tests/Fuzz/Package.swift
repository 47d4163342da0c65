// swift-tools-version:6.2

import PackageDescription

let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v13)],
    products: [.library(name: "Fuzz", type: .static, targets: ["Fuzz"])],
    dependencies: [.package(name: "URLConfig", path: "../..")],
    targets: [
        // A library, because libFuzzer has the main function. `run` links it.
        .target(
            name: "Fuzz",
            dependencies: [
                .product(name: "URLConfig", package: "URLConfig"),
                .product(name: "URLConfigTesting", package: "URLConfig"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
