// swift-tools-version:6.2

import PackageDescription

/// The condition of everything that the server transport needs.
let onServers = TargetDependencyCondition.when(traits: ["AsyncHTTPClient"])

/// The dependencies of the server transport and its tests.
let serverTransport: [Target.Dependency] = [
    .product(name: "AsyncHTTPClient", package: "async-http-client", condition: onServers),
    .product(name: "NIOCore", package: "swift-nio", condition: onServers),
    .product(name: "NIOHPACK", package: "swift-nio-http2", condition: onServers),
    .product(name: "NIOHTTP1", package: "swift-nio", condition: onServers),
    .product(name: "NIOHTTP2", package: "swift-nio-http2", condition: onServers),
    .product(name: "NIOPosix", package: "swift-nio", condition: onServers),
    .product(name: "NIOSSL", package: "swift-nio-ssl", condition: onServers),
]

/// The condition of everything that spans and metrics need.
let withTelemetry = TargetDependencyCondition.when(traits: ["Telemetry"])

/// The dependencies of spans and metrics and their tests.
let telemetry: [Target.Dependency] = [
    .product(name: "Metrics", package: "swift-metrics", condition: withTelemetry),
    .product(name: "Tracing", package: "swift-distributed-tracing", condition: withTelemetry),
]

/// What receives spans and metrics in memory.
let inMemoryTelemetry: [Target.Dependency] = [
    .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: withTelemetry),
    .product(name: "MetricsTestKit", package: "swift-metrics", condition: withTelemetry),
]

// Only Apple's App Store reads the privacy manifest. Elsewhere a resource would add a bundle to each program.
#if canImport(Darwin)
let (privacyManifest, excluded): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
let (privacyManifest, excluded): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

let package = Package(
    name: "URLConfig",
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "URLConfig", targets: ["URLConfig"]),
        .library(name: "URLConfigTesting", targets: ["URLConfigTesting"]),
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "Adds Transport.asyncHTTPClient, for services."),
        .trait(name: "Telemetry", description: "Adds the spans and metrics of OpenTelemetry."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.12.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
        // Only with the traits; without them they are not even fetched.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.36.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        .target(
            name: "URLConfig",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOFoundationCompat", package: "swift-nio", condition: onServers),
                .target(name: "CURLConfigZlib", condition: onServers),
            ] + serverTransport + telemetry,
            exclude: excluded,
            resources: privacyManifest
        ),
        // For the tests of apps. It needs nothing that URLConfig does not need.
        .target(name: "URLConfigTesting", dependencies: ["URLConfig"]),
        .testTarget(
            name: "URLConfigTestingTests", dependencies: ["URLConfigTesting"], exclude: ["__Replays__"]),
        // The zlib of the system: the server transport decodes gzip and deflate.
        .systemLibrary(name: "CURLConfigZlib"),
        // Limits how many tests run at once, also for a plain `swift test`.
        .target(name: "CURLConfigParallelism", path: "Tests/Parallelism"),
        .testTarget(
            name: "URLConfigTests",
            dependencies: [
                "CURLConfigParallelism",
                "URLConfig",
                "URLConfigTesting",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ] + serverTransport + telemetry + inMemoryTelemetry
        ),
        .executableTarget(
            name: "tour",
            dependencies: [
                "URLConfig",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Examples/Tour"
        ),
        .executableTarget(
            name: "dogs",
            dependencies: [
                "URLConfig",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            path: "Examples/Dogs"
        ),
        .testTarget(name: "DogsTests", dependencies: ["URLConfigTesting", "dogs"]),
        .executableTarget(
            name: "chat",
            dependencies: [
                "URLConfig",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            path: "Examples/Chat"
        ),
        .executableTarget(
            name: "transfer",
            dependencies: [
                "URLConfig",
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "FlyingSocks", package: "FlyingFox"),
            ],
            path: "Examples/Transfer"
        ),
        .executableTarget(
            name: "service",
            dependencies: [
                "URLConfig",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird", condition: onServers),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio", condition: onServers),
            ] + telemetry + inMemoryTelemetry,
            path: "Examples/Service"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}
