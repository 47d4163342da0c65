import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// What a call does with a cache: streams, retries, validation in the background, stale responses, broken stores.
@Suite(.inTime) struct CacheCallTests {
    private let clock = TestClock()
    private let cache = HTTPCache.memory(megabytes: 10)
    private let seen = Recorder<URLRequest>()
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }

    /// The response of an origin to its n-th request.
    typealias Responses = @Sendable (Int) async throws -> Transport.Response

    private func fresh(_ text: String = "a", _ fields: HTTPFields = [.cacheControl: "max-age=60"]) -> Transport.Response
    {
        .init(headerFields: fields, body: .init(Data(text.utf8)))
    }

    private func configure(_ respond: @escaping Responses) -> @Sendable (inout URLSession.Config) -> Void {
        { [cache, clock, seen] config in
            (config.cache, config.clock) = (cache, clock)
            config.transport = Transport { try await respond(seen.note($0.urlRequest)) }
        }
    }

    @discardableResult
    private func get(
        _ respond: @escaping Responses, of request: URLRequest? = nil,
        _ change: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> DataResponse {
        try await URLSession.shared.response(for: request ?? self.request, config: .silent) {
            configure(respond)(&$0)
            change(&$0)
        }
    }

    @Test func `the policy of the session counts, unless the request has its own`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration)
        var ownPolicy = request
        ownPolicy.cachePolicy = .returnCacheDataElseLoad
        for (request, expected) in [(request, "1"), (request, "2"), (ownPolicy, "2"), (request, "3")] {
            let configure = configure { fresh("\($0)") }
            let response = try await session.response(for: request, config: .silent, configure)
            #expect(try response.text() == expected)
            #expect(response.request.cachePolicy == request.cachePolicy)
        }
    }

    @Test(arguments: [
        URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData,
        .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
    ])
    func `beside a cache, the transport is told to use no other one`(policy: URLRequest.CachePolicy) async throws {
        var (request, bypassing) = (request, request)
        request.cachePolicy = policy
        (bypassing.cachePolicy, bypassing.httpMethod) = (policy, "POST")
        let respond: Responses = { _ in fresh() }
        for request in [request, bypassing] { try await get(respond, of: request) }
        try await get(respond, of: request) { $0.cache = nil }
        let none = URLRequest.CachePolicy.reloadIgnoringLocalCacheData
        #expect(seen.entries.map(\.cachePolicy) == [none, none, policy])
    }

    @Test(arguments: [
        ("Cache-Control", "no-store", [1, 2, 3]), ("Range", "bytes=0-1", [1, 2, 3]),
        ("If-None-Match", "\"a\"", [1, 2, 3]),
        ("Cache-Control", "only-if-cached", []), ("Accept", "*/*", [1, 1, 1]),
    ])
    func `a field of the session counts as one of the request`(_ name: String, _ value: String, _ texts: [Int])
        async throws
    {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [name: value]
        let session = URLSession(configuration: configuration)
        let configure = configure { fresh("\($0)") }
        var received: [DataResponse] = []
        for _ in 1...3 {
            try await received.append(session.response(for: request, config: .silent, configure))
        }
        let (good, others) = (received.filter(\.isSuccess), received.filter { !$0.isSuccess })
        #expect(good.map(\.bodyString) == texts.map { "\($0)" })
        #expect(seen.count == Set(texts).count)
        #expect(others.allSatisfy { $0.status == .gatewayTimeout })
    }

    @Test func `a condition of the session has its 304, and equal calls with no-store of the session are sent each`()
        async throws
    {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["If-None-Match": "\"a\""]
        let configure = configure { _ in .init(status: .notModified) }
        let response = try await URLSession(configuration: configuration)
            .response(for: request, config: .silent, configure)
        #expect(response.status == .notModified)

        configuration.httpAdditionalHeaders = ["Cache-Control": "no-store"]
        let (session, request, other) = (URLSession(configuration: configuration), request, Recorder<URLRequest>())
        let gate = Gate()
        try await withThrowingTaskGroup(of: DataResponse.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    try await session.response(for: request, config: .silent) {
                        $0.coalesces = true
                        $0.transport = Transport { sending in
                            if other.note(sending.urlRequest) == 2 { gate.open() }
                            await gate.pass()
                            return .init()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(other.count == 2)
    }

    @Test func `what the cache itself answers is not sent again, and waits for nothing`() async throws {
        var onlyStored = request
        onlyStored.setValue("only-if-cached", forHTTPHeaderField: "Cache-Control")
        let respond: Responses = { _ in fresh() }
        let response = try await get(respond, of: onlyStored) { $0.retry = RetryPolicy(attempts: 3) }
        #expect(response.status == .gatewayTimeout)
        #expect(response.attempts.count == 1)
        #expect(seen.count == 0)
    }

    @Test func `a transport of the app on Linux stores no encoded body, which may have been cut`() async throws {
        let body = Data("cut".utf8)
        for expected in [1, 2] {
            let response = try await get { _ in
                var response = Transport.Response(
                    headerFields: [.cacheControl: "max-age=60", .contentEncoding: "gzip"],
                    body: ResponseBody(
                        AsyncStream {
                            $0.yield(body)
                            $0.finish()
                        }))
                response.url = URL(string: "https://api.test/a")
                return response
            }
            #expect(response.fromCache == (!Exchange.hidesCutBodies && expected == 2))
            let asked = Exchange.hidesCutBodies ? "identity" : nil
            #expect(seen.entries.last?.value(forHTTPHeaderField: "Accept-Encoding") == asked)
        }
    }

    @Test func `in an encoding for which only one caller has asked, a response is not for others`() async throws {
        for vary in [nil, "Accept-Encoding"] {
            var own = URLRequest(url: try #require(URL(string: "https://api.test/\(vary ?? "none")")))
            own.setValue("br", forHTTPHeaderField: "Accept-Encoding")
            var fields: HTTPFields = [.cacheControl: "max-age=60", .contentEncoding: "br"]
            fields[.vary] = vary
            let response = try await get({ [fields] _ in fresh("a", fields) }, of: own)
            let isStored = vary != nil && !Exchange.hidesCutBodies
            #expect(response.cacheStatus?.isStored == isStored)
            #expect(response.cacheStatus?.detail == (isStored ? nil : "encoded"))
        }
    }

    @Test func `a response says where it comes from, in its attempts and in the log`() async throws {
        let (logger, log) = Logger.recording()
        let first = try await get({ _ in fresh() }, { $0.logger = logger })
        #expect(first.cacheStatus?.description == "fwd=uri-miss; stored")
        #expect(!first.fromCache)
        await clock.advance(by: .seconds(12))
        let second = try await get({ _ in fresh("b") }, { $0.logger = logger })
        #expect(second.cacheStatus?.description == "hit; age=12; ttl=48")
        #expect(second.fromCache)
        #expect(try second.text() == "a")
        #expect(log.text.contains("cache=hit; age=12; ttl=48"))
        #expect(second.headerFields[.age] == "12")
        #expect(second.attempts.map(\.cacheStatus) == [second.cacheStatus])
        #expect("\(second.attempts[0])".contains("hit"))
        #expect(seen.count == 1)
        #expect(try await get({ _ in fresh() }, { $0.cache = nil }).cacheStatus == nil)
    }

    /// How the second request differs, and what its status says.
    @Test(arguments: [
        ("vary", "fwd=vary-miss; stored"), ("reload", "fwd=request; stored"), ("stale", "fwd=stale; fwd-status=304"),
        ("no-store", "fwd=bypass; detail=\"no-store\""), ("POST", "fwd=method; detail=\"POST\""),
    ])
    func `the status says as RFC 9211 writes it why the server was asked`(
        difference: String, expected: String
    ) async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=10", .vary: "Accept-Language", .eTag: "\"1\""]
        try await get { [self] _ in fresh("old", fields) }
        var second = request
        switch difference {
        case "vary": second.setValue("fr", forHTTPHeaderField: "Accept-Language")
        case "reload": second.cachePolicy = .reloadIgnoringLocalCacheData
        case "stale": await clock.advance(by: .seconds(20))
        case "no-store": second.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        default: second.httpMethod = difference
        }
        let respond: Responses = { [self] _ in
            difference == "stale" ? .init(status: .notModified) : fresh("new", fields)
        }
        #expect(try await get(respond, of: second).cacheStatus?.description == expected)
        #expect(seen.count == 2)
    }

    @Test func `a stream is stored when it was read to its end, and read from the cache`() async throws {
        let pieces: Responses = { _ in
            let (pieces, continuation) = AsyncStream<Data>.makeStream()
            for text in ["one\n", "two\n"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
            return .init(headerFields: [.cacheControl: "max-age=60"], body: .init(pieces))
        }
        func stream() async throws -> StreamResponse {
            try await URLSession.shared.stream(for: request, config: .silent, configure(pieces))
        }
        func lines(_ response: StreamResponse) async throws -> [String] {
            var lines: [String] = []
            for try await line in response.lines { lines.append(line) }
            return lines
        }
        // A loop that ends early stores nothing.
        for try await _ in try await stream().lines { break }
        for _ in 0..<2 { #expect(try await lines(stream()) == ["one", "two"]) }
        #expect(seen.count == 2)
        #expect(try await stream().head.fromCache)
        #expect(try await get { _ in fresh() }.text() == "one\ntwo\n")
    }

    @Test func `a stream is not stored if it is cancelled, although its source just ends then`() async throws {
        let silent: Responses = { _ in
            let (pieces, continuation) = AsyncStream<Data>.makeStream()
            continuation.yield(Data("one\n".utf8))
            return .init(headerFields: [.cacheControl: "max-age=60"], body: .init(pieces))
        }
        for count in 1...10 {
            let lines = Recorder<String>()
            let call = Task {
                let response = try await URLSession.shared.stream(for: request, config: .silent, configure(silent))
                for try await line in response.lines { lines.note(line) }
            }
            try await waitUntil { lines.entries == ["one"] }
            await call.expectCancelled()
            #expect(seen.count == count, "nothing was stored")
        }
    }

    @Test(arguments: [nil, 5 as Int64])
    func `a body that breaks off or is too short is not stored`(length: Int64?) async throws {
        let cut: Responses = { count in
            let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            continuation.yield(Data("abc".utf8))
            continuation.finish(throwing: length == nil && count == 1 ? URLError(.networkConnectionLost) : nil)
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            fields[.contentLength] = length.map { "\($0)" }
            return .init(headerFields: fields, body: .init(pieces))
        }
        _ = try? await get(cut)
        _ = try? await get(cut)
        #expect(seen.count == 2)
    }

    /// The length of the body and of a field.
    @Test(arguments: ["memory", "disk"], [(499_900, 0), (10, 70_000), (10, 10)])
    func `a response says that it is stored only if it is`(store: String, sizes: (body: Int, field: Int)) async throws {
        let directory = TemporaryDirectory()
        let cache = store == "disk" ? HTTPCache.disk(megabytes: 1, in: directory.url) : .memory(megabytes: 1)
        func get() async throws -> DataResponse {
            try await self.get { _ in
                let text = String(repeating: "x", count: sizes.field)
                return .init(
                    headerFields: [.cacheControl: "max-age=60", .server: text], body: .init(Data.sample(sizes.body)))
            } _: {
                $0.cache = cache
            }
        }
        let isStored = try await get().cacheStatus?.isStored
        #expect(try await get().fromCache == isStored)
        if sizes == (10, 10) { #expect(isStored == true) }
        if sizes == (499_900, 0) { #expect(isStored == (store == "disk")) }
    }

    @Test func `a call that is cancelled or reaches its limit stores nothing`() async throws {
        await expectError(.responseTooLarge) { try await get({ _ in fresh("abcdef") }, { $0.responseLimit = 3 }) }
        try await get { _ in fresh("abcdef") }
        await expectError(.responseTooLarge) { try await get({ _ in fresh() }, { $0.responseLimit = 3 }) }
        #expect(seen.count == 2)
    }

    @Test func `a stale response is validated in the background, once, and not cancelled with its caller`() async throws
    {
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        let gate = Gate()
        let origin: Responses = { [self] count in
            if count == 1 { return fresh("old", fields) }
            await gate.pass()
            return fresh("new", fields)
        }
        try await get(origin)
        await clock.advance(by: .seconds(20))
        let (end, received) = (Gate(), Recorder<DataResponse>())
        let callers = (0..<10).map { _ in
            Task {
                received.note(try await get(origin))
                // It is cancelled here, while its response is validated.
                await end.pass()
            }
        }
        await end.waitForArrivals(10)
        for response in received.entries {
            #expect(try response.text() == "old")
            #expect(response.cacheStatus?.timeToLive == .seconds(-10))
        }
        await gate.waitForArrivals()
        for caller in callers { caller.cancel() }
        #expect(end.cancelled == 10)
        end.open()
        for caller in callers { try await caller.valueInTime }
        #expect(gate.cancelled == 0)
        gate.open()
        await cache.finishRevalidations()
        #expect(try await get(origin).text() == "new")
        #expect(seen.count == 2)
        #expect(seen.entries[1].value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
    }

    @Test func `a stream is validated in the background as a stream`() async throws {
        let streams = Recorder<Bool>()
        let configure = { @Sendable [cache, clock] (config: inout URLSession.Config) in
            (config.cache, config.clock) = (cache, clock)
            config.transport = Transport {
                streams.note(!$0.buffersBody && $0.timeLimits.whole == nil && $0.timeLimits.silence == .seconds(10))
                return fresh("a\n", [.cacheControl: "max-age=10, stale-while-revalidate=60"])
            }
        }
        var request = request
        request.timeoutInterval = 10
        for seconds in [0, 20] {
            await clock.advance(by: .seconds(seconds))
            let response = try await URLSession.shared.stream(for: request, config: .silent, configure)
            for try await _ in response.lines {}
        }
        await cache.finishRevalidations()
        #expect(streams.entries == [true, true])
    }

    @Test func `a failure in the background is in the log, and the stale response stays`() async throws {
        let (logger, log) = Logger.recording()
        let origin: Responses = { [self] count in
            if count > 1 { throw URLError(.cannotConnectToHost) }
            return fresh("old", [.cacheControl: "max-age=10, stale-while-revalidate=60"])
        }
        try await get(origin)
        await clock.advance(by: .seconds(20))
        #expect(try await get(origin) { $0.logger = logger }.text() == "old")
        await cache.finishRevalidations()
        #expect(log.entries.contains { $0.level == .error })
        #expect(try await get(origin).text() == "old")
        await cache.finishRevalidations()
    }

    @Test func `a validation in the background ends after its deadline`() async throws {
        let gate = Gate()
        let origin: Responses = { [self] count in
            if count > 1 { await gate.pass() }
            return fresh("old", [.cacheControl: "max-age=10, stale-while-revalidate=600"])
        }
        try await get(origin)
        await clock.advance(by: .seconds(20))
        try await get(origin) { $0.deadline = .seconds(30) }
        await gate.waitForArrivals()
        await clock.advance(by: .seconds(30))
        await cache.finishRevalidations()
        gate.open()
    }

    /// What the server says, what the call says, and whether the stale response is used.
    @Test(arguments: [
        ("stale-if-error=60", nil, true), ("stale-if-error=5", nil, false), ("x", nil, false),
        ("x", Duration.seconds(60), true), ("x", .seconds(5), false), ("must-revalidate", .seconds(60), false),
        ("no-cache", .seconds(60), false), ("stale-if-error=5", .seconds(60), true),
    ])
    func `a stale response is used instead of a failure, after retries and before the fallback`(
        control: String, limit: Duration?, isUsed: Bool
    ) async throws {
        for failure in [503, 404, 0] {
            let (cache, seen) = (HTTPCache.memory(megabytes: 1), Recorder<Void>())
            func get() async throws -> DataResponse {
                try await self.get { _ in
                    guard seen.note(()) > 1 else {
                        return fresh("old", [.cacheControl: "max-age=10, " + control, .eTag: "\"1\""])
                    }
                    if failure == 0 { throw URLError(.cannotConnectToHost) }
                    return .init(status: .init(code: failure), body: .init(Data("new".utf8)))
                } _: {
                    $0.cache = cache
                    $0.cache?.staleIfError = limit
                    $0.clock = clock
                    $0.retry = RetryPolicy(attempts: 2).quick
                    $0.fallback = { _, request in DataResponse(request: request, data: Data("fallback".utf8)) }
                }
            }
            _ = try await get()
            await clock.advance(by: .seconds(20))
            let response = try await get()
            let text = failure == 404 ? "new" : isUsed ? "old" : failure == 0 ? "fallback" : "new"
            #expect(try response.text() == text, "\(failure)")
            if text == "old" { #expect(response.cacheStatus?.detail == "stale-if-error") }
            if text != "fallback" { #expect(response.attempts.count == (failure == 404 ? 1 : 2), "\(failure)") }
        }
    }

    @Test func `a failure that the server lets store is not the response to a retry`() async throws {
        let response = try await get { [self] count in
            count == 1 ? .init(status: .serviceUnavailable, headerFields: [.cacheControl: "max-age=60"]) : fresh("new")
        } _: {
            $0.retry = RetryPolicy(attempts: 3).quick
        }
        #expect(try response.text() == "new")
        #expect(seen.count == 2)
    }

    @Test func `a 304 that nobody asked for is an error, and one about another version is asked again`() async throws {
        await expectError(.invalidResponse) { try await get { _ in .init(status: .notModified) } }
        try await get { _ in fresh("old", [.cacheControl: "no-cache", .eTag: "\"1\""]) }
        let response = try await get { [self] count in
            count == 3
                ? .init(status: .notModified, headerFields: [.eTag: "\"2\""])
                : fresh("new", [.cacheControl: "no-cache", .eTag: "\"2\""])
        }
        #expect(try response.text() == "new")
        #expect(seen.entries.map { $0.value(forHTTPHeaderField: "If-None-Match") } == [nil, nil, "\"1\"", nil])
    }

    @Test func `conditions and ranges of the caller are his`() async throws {
        try await get { _ in fresh() }
        for field in ["If-None-Match", "Range"] {
            var request = request
            request.setValue("x", forHTTPHeaderField: field)
            let response = try await get({ _ in .init(status: .notModified) }, of: request)
            #expect(response.status == .notModified)
            #expect(response.cacheStatus?.description == "fwd=bypass; detail=\"\(field)\"")
        }
    }

    static let functions = ["salt", "responses", "body", "writer", "update", "remove", "write", "finish"]

    /// Responses by which a store has to do everything.
    private var everyFunction: Responses {
        { [seen] _ in
            // What was not stored is requested without a condition.
            let isConditional = seen.entries.last?.value(forHTTPHeaderField: "If-None-Match") != nil
            let control = seen.count < 3 ? "no-cache" : "no-store"
            return seen.count == 2 && isConditional
                ? .init(status: .notModified, headerFields: [.eTag: "\"1\""])
                : fresh("a", [.cacheControl: control, .eTag: "\"1\""])
        }
    }

    @Test(arguments: functions) func `a store that fails costs only the cache`(bad: String) async throws {
        let cache = HTTPCache(store: AppStore { if $0 == bad { throw URLError(.cannotOpenFile) } })
        for _ in 0..<4 {
            let response = try await get(everyFunction) { $0.cache = cache }
            #expect(try response.text() == "a")
        }
    }

    @Test(arguments: functions)
    func `a store that does not return holds up no call longer than a second after its deadline`(
        bad: String
    ) async throws {
        let (gate, ended) = (Gate(), Recorder<Void>())
        let cache = HTTPCache(store: AppStore { if $0 == bad { await gate.pass() } })
        var request = request
        // It removes what is stored.
        if bad == "remove" { request.httpMethod = "PUT" }
        for index in 0..<4 {
            let arrived = gate.arrivals
            let call = Task { [request] in
                defer { ended.note(()) }
                return try await get(everyFunction, of: request) { ($0.cache, $0.deadline) = (cache, .seconds(1)) }
            }
            try await waitUntil { gate.arrivals > arrived || ended.count > index }
            clock.move(by: .seconds(1))
            // Then the store may be asked for a stale response.
            try await waitUntil { clock.sleepers > 0 || ended.count > index }
            clock.move(by: .seconds(1))
            do {
                #expect(try await call.valueInTime.text() == "a")
            } catch let error as RequestError {
                #expect(error.code == .deadlineExceeded)
                #expect(gate.arrivals > arrived)
            }
        }
        #expect(gate.arrivals > 0)
        gate.open()
    }
}
