// swift-tools-version:6.1

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "URLConfig", path: "../.."),
        // No traits: by default it replaces the allocator and the reference counting of the process that is measured.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "URLConfigBenchmarks",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "URLConfig", package: "URLConfig"),
            ],
            path: "Benchmarks/URLConfigBenchmarks",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        .executableTarget(
            name: "CallBenchmarks",
            dependencies: [.product(name: "URLConfig", package: "URLConfig")]
        ),
        .executableTarget(name: "BenchmarkServer"),
    ],
    swiftLanguageModes: [.v6]
)
