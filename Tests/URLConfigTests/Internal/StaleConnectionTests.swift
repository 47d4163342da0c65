import Testing

@testable import URLConfig

/// A server that closes a connection in the instant in which the next request is sent on it.
@Suite(.timeLimit(.minutes(1))) struct StaleConnectionTests {
    private static let body = String(repeating: "0123456789", count: 10_000)

    @Test(arguments: ["GET", "POST", "PUT"])
    func `the request is sent once more, body and all`(method: String) async throws {
        try await FaultServer.serving(.closingOnReuse("{}")) { server in
            let request = URLRequest.with(server.config) {
                $0.method = .init(rawValue: method) ?? .get
                if method != "GET" { $0.body = .text(Self.body) }
            }
            for _ in 0..<5 {
                let response = try await server.session.response(for: request) { $0.logger = nil }
                #expect(response.isSuccess)
            }
            #expect(server.connections == 5)
            for sent in server.requests {
                #expect(sent.bodyText == (method == "GET" ? "" : Self.body))
                #expect(sent.field("Content-Length") == (method == "GET" ? nil : "100000"))
                #expect(sent.field("Transfer-Encoding") == nil)
            }
        }
    }

    @Test func `a stream is sent once more, if the caller's delegate has another`() async throws {
        try await FaultServer.serving(.closingOnReuse("{}")) { server in
            for _ in 0..<3 {
                let response = try await server.session.response(for: Self.streaming(to: server)) {
                    $0.logger = nil
                    $0.taskDelegate = Streams()
                }
                #expect(response.isSuccess)
            }
            #expect(server.requests.allSatisfy { $0.bodyText == Self.body })
        }
    }

    #if canImport(FoundationNetworking)
    @Test func `the delegate is asked for a stream on its session's queue`() async throws {
        let (queue, streams) = (OperationQueue(), Streams())
        let expected = ObjectIdentifier(queue)
        let session = URLSession(configuration: .ephemeral, delegate: streams, delegateQueue: queue)
        defer { session.finishTasksAndInvalidate() }
        try await FaultServer.serving(.closingOnReuse("{}")) { server in
            for _ in 0..<3 { try await session.response(for: Self.streaming(to: server)) { $0.logger = nil } }
        }
        let queues = streams.queues.withLock { $0 }
        #expect(!queues.isEmpty)
        #expect(queues.allSatisfy { $0 == expected })
    }

    @Test(arguments: [true, false])
    func `without another stream the call ends, and no empty body is sent`(hasDelegate: Bool) async throws {
        try await FaultServer.serving(.closingOnReuse("{}")) { server in
            var failures: [URLError.Code] = []
            for _ in 0..<4 {
                do {
                    try await server.session.response(for: Self.streaming(to: server)) {
                        $0.logger = nil
                        if hasDelegate { $0.taskDelegate = TaskDelegate() }
                    }
                } catch let error as URLError {
                    failures.append(error.code)
                }
            }
            #expect(failures == [.requestBodyStreamExhausted, .requestBodyStreamExhausted])
            #expect(server.requests.allSatisfy { $0.bodyText == Self.body })
        }
    }
    #endif

    private static func streaming(to server: FaultServer) -> URLRequest {
        var request = URLRequest.with(server.config) { $0.method = .post }
        request.httpBodyStream = InputStream(data: Data(body.utf8))
        return request
    }

    private final class Streams: NSObject, URLSessionTaskDelegate {
        let queues = LockBox<[ObjectIdentifier?]>([])

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            queues.withLock { $0.append(OperationQueue.current.map(ObjectIdentifier.init)) }
            completionHandler(InputStream(data: Data(StaleConnectionTests.body.utf8)))
            // Twice is once too often, and must do no harm.
            #if canImport(FoundationNetworking)
            completionHandler(InputStream(data: Data(StaleConnectionTests.body.utf8)))
            #endif
        }
    }
}
