import Testing

@testable import URLConfig

/// One request and its response, without a network.
@Suite(.inTime) struct ExchangeTests {
    private func exchange(
        _ excess: ReceivedBody.Excess = Exchange.excess, body: Transport.Body? = nil
    ) throws -> Exchange {
        var request = Transport.Request(for: .with(.init(host: "http://h.invalid")))
        if let body { request.body = body }
        try request.openBody()
        return Exchange(request, excess)
    }

    @Test func `one that is over begins no task`() async throws {
        let exchange = try exchange()
        exchange.body.fail(URLError(.timedOut))
        exchange.begin {
            Issue.record("a task was made")
            return URLSession.shared.dataTask(with: URLRequest.with(.init(host: "http://h.invalid")))
        }
        await #expect(throws: URLError.self) { try await exchange.waitForHead() }
    }

    @Test func `a task that is no longer wanted when it has been made does not begin`() async throws {
        let exchange = try exchange()
        let task = URLSession(configuration: .ephemeral).dataTask(with: .with(.init(host: "http://h.invalid")))
        exchange.begin {
            exchange.body.fail(URLError(.timedOut))
            return task
        }
        #expect([.canceling, .completed].contains(task.state))
        await #expect(throws: URLError.self) { try await exchange.waitForHead() }
    }

    @Test func `a file can be opened again, but not with another length`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.file("film.mp4", Data("film".utf8))
        let exchange = try exchange(body: .file(file))
        #expect(exchange.request.urlRequest.value(forHTTPHeaderField: "Content-Length") == "4")
        let task = URLSession.shared.dataTask(with: exchange.request.urlRequest)
        for _ in 0..<2 {
            let stream = Locked(Data?.none)
            exchange.urlSession(.shared, task: task) { opened in stream.set(\.self, try? opened?.readToEnd()) }
            #expect(stream.withLock { $0 } == Data("film".utf8))
        }
        try Data("a longer film".utf8).write(to: file)
        exchange.urlSession(.shared, task: task) { #expect($0 == nil) }
        let error = await expectError(.invalidRequest) { try await exchange.waitForHead() }
        #expect(error?.reason == "body: its length has changed since it was sent")
    }

    /// Only the code for Apple platforms removes them, but it does so with this function.
    @Test func `a configuration without credentials keeps its other fields`() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["authorization": "s3cret", "X-Api-Key": "k3y", "User-Agent": "app"]
        #expect(URLSession(configuration: configuration).addsAuthorization)
        #expect(configuration.removeCredentials(.standard))
        #expect(configuration.httpAdditionalHeaders as? [String: String] == ["User-Agent": "app"])
        #expect(!configuration.removeCredentials(.standard))
        #expect(!URLSession(configuration: configuration).addsAuthorization)
    }

    #if canImport(FoundationNetworking)
    @Test func `a task is paused for a slow reader, and nothing is locked then`() async throws {
        let exchange = try exchange(.pauses)
        let reader = ReceivedBody.Reader(exchange.body)
        let task = HookedTask { [weak exchange] in _ = exchange?.head }
        exchange.begin { task }
        for _ in 0..<3 {
            exchange.urlSession(.shared, dataTask: task, didReceive: Data(count: Exchange.bufferSize - 1))
            exchange.urlSession(.shared, dataTask: task, didReceive: Data(count: 1))
            exchange.urlSession(.shared, dataTask: task, didReceive: Data(count: 1))
            #expect(try await reader.next()?.count == Exchange.bufferSize + 1)
        }
        #expect(task.events == ["resume", "suspend", "resume", "suspend", "resume", "suspend", "resume"])
    }

    @Test func `a task is not paused when everything was read, however many things happen at once`() async throws {
        let (piece, count) = (Data(count: Exchange.bufferSize), 16)
        for _ in 0..<20 {
            let exchange = try exchange(.pauses)
            let reader = ReceivedBody.Reader(exchange.body)
            let task = HookedTask {}
            exchange.begin { task }
            async let sent: Void = OwnThread.run {
                for _ in 0..<count { exchange.urlSession(.shared, dataTask: task, didReceive: piece) }
            }
            var received = 0
            while received < count * piece.count { received += try await reader.next()?.count ?? 0 }
            try await sent
            let events = task.events
            #expect(events.last == "resume")
            #expect(zip(events, events.dropFirst()).allSatisfy { $0 != $1 })
        }
    }
    #endif
}

#if canImport(FoundationNetworking)
/// A task that only tells when it is suspended or resumed.
private final class HookedTask: URLSessionDataTask, @unchecked Sendable {
    private let log = Locked<[String]>([])
    private let onChange: @Sendable () -> Void
    var events: [String] { log.withLock { $0 } }

    init(onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
        super.init()
    }

    private func change(_ event: String) {
        onChange()
        log.withLock { $0.append(event) }
    }

    override func suspend() { change("suspend") }
    override func resume() { change("resume") }
    override func cancel() {}
}
#endif
