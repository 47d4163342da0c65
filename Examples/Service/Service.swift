#if AsyncHTTPClient && Telemetry && os(Linux)

import Hummingbird
import Logging
import URLConfig

/// A small HTTP service: for each request it calls two upstream services, and combines their responses.
///
/// For a service of your own, copy `Upstreams`, `ArticleRouter` and ``prepare(_:)``. The rest is the command line, the
/// demonstration, and what stands in for the upstream services.
@main
struct Service {
    static func main() async {
        do {
            switch Arguments(Array(CommandLine.arguments.dropFirst())) {
            case .help:
                print(Arguments.usage)
            case .unknown:
                complain(Arguments.usage)
                exit(2)
            case .demo:
                try await Demo.run()
            case .serve(let port):
                try await serve(port)
            }
        } catch {
            complain("service: \(error)")
            exit(1)
        }
    }

    private static func serve(_ port: Int) async throws {
        var logger = Logger(label: "service")
        logger.logLevel = .debug
        prepare(logger)
        try await StandIns.run { standIns in
            let router = ArticleRouter(upstreams: Upstreams(standIns)).router
            // SIGINT or SIGTERM ends it, when the requests that are under way have their responses.
            try await Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger
            ).runService()
        }
    }

    /// The settings of the process, made before its first request; they need no shutdown.
    static func prepare(_ logger: Logger) {
        // All requests of the process are sent with AsyncHTTPClient, including requests of libraries that use this
        // package.
        URLSession.Config.default.transport = .asyncHTTPClient
        URLSession.Config.default.logger = logger
        URLSession.Config.default.logBody = false
        // Spans and metrics, for the tracer and the metrics backend that a process has set up.
        URLSession.Config.default.telemetry = .openTelemetry
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

#else

import URLConfig

@main
struct Service {
    static func main() {
        print(
            """
            This example is for Linux. It needs the server transport and telemetry, which are traits of the package:
              swift run --traits AsyncHTTPClient,Telemetry --scratch-path .build/async-http-client service --help
            """)
        exit(1)
    }
}

#endif
