// swift-tools-version:6.1

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "URLConfig", path: "../..", traits: ["AsyncHTTPClient", "Telemetry"]),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
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
            dependencies: [
                "BenchmarkContent",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "URLConfig", package: "URLConfig"),
            ]
        ),
        .executableTarget(name: "BenchmarkServer", dependencies: ["BenchmarkContent"]),
        // What the server and its clients must agree on.
        .target(name: "BenchmarkContent"),
    ],
    swiftLanguageModes: [.v6]
)
