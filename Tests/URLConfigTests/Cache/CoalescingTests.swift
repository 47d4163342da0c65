import Testing
import URLConfigTesting

@testable import URLConfig

/// Equal requests that share one transfer.
@Suite(.inTime) struct CoalescingTests {
    /// A server that counts requests and holds them back.
    private struct Origin: Sendable {
        let gate = Gate()
        let seen = Recorder<URLRequest>()
        let respond: @Sendable (Int) throws -> Transport.Response

        init(
            _ respond: @escaping @Sendable (Int) throws -> Transport.Response = {
                .init(body: .init(Data("\($0)".utf8)))
            }
        ) {
            self.respond = respond
        }

        var transport: Transport {
            Transport { request in
                let count = seen.note(request.urlRequest)
                await gate.pass()
                try Task.checkCancellation()
                return try respond(count)
            }
        }
    }

    /// Other tests have other URLs.
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/\(UUID())?b=1") }

    /// Calls at the same time, of which each waits for the origin.
    private func calls(
        _ count: Int, _ transport: Transport, request: @escaping @Sendable (Int) -> URLRequest,
        _ configure: @escaping @Sendable (Int, inout URLSession.Config) -> Void = { _, _ in }
    ) -> [Task<DataResponse, any Error>] {
        (0..<count).map { index in
            Task {
                try await URLSession.shared.response(for: request(index), config: .silent) {
                    ($0.coalesces, $0.transport) = (true, transport)
                    configure(index, &$0)
                }
            }
        }
    }

    /// Waits until this number of calls waits for one transfer.
    private func waitForWaiters(_ count: Int) async throws {
        try await waitUntil { SharedTransfer.waiters(for: request.url) == count }
    }

    @Test func `a hundred equal requests are one transfer, and the attempts say so`() async throws {
        let origin = Origin()
        let calls = calls(100, origin.transport) { _ in request }
        try await waitForWaiters(100)
        origin.gate.open()
        var collapsed = 0
        for call in calls {
            let response = try await call.valueInTime
            #expect(response.data == Data("1".utf8))
            if response.cacheStatus?.isCollapsed == true { collapsed += 1 }
            #expect(response.attempts.first?.cacheStatus == response.cacheStatus)
        }
        #expect(origin.seen.count == 1)
        #expect(collapsed == 99)
        #expect(SharedTransfer.waiters(for: request.url) == 0)
    }

    /// What the status says for the call that has begun the transfer; the other ones add that it was shared.
    @Test(arguments: [(false, "fwd=miss"), (true, "fwd=uri-miss; stored")])
    func `the status says as RFC 9211 writes it that a response was shared`(hasCache: Bool, first: String) async throws
    {
        let origin = Origin { .init(headerFields: [.cacheControl: "max-age=60"], body: .init(Data("\($0)".utf8))) }
        let cache = hasCache ? HTTPCache.memory(megabytes: 1) : nil
        let calls = calls(3, origin.transport, request: { _ in request }, { $1.cache = cache })
        try await waitForWaiters(3)
        origin.gate.open()
        var statuses: [String?] = []
        for call in calls { statuses.append(try await call.valueInTime.cacheStatus?.description) }
        #expect(statuses.count { $0 == first } == 1)
        #expect(statuses.count { $0 == "\(first); collapsed" } == 2)
    }

    @Test func `if 99 of a hundred are cancelled, the last one has its response`() async throws {
        let origin = Origin()
        let calls = calls(100, origin.transport) { _ in request }
        try await waitForWaiters(100)
        for call in calls.dropLast() { call.cancel() }
        for call in calls.dropLast() { await #expect(throws: CancellationError.self) { try await call.valueInTime } }
        origin.gate.open()
        #expect(try await calls[99].valueInTime.data == Data("1".utf8))
        #expect(origin.seen.count == 1)
        #expect(origin.gate.cancelled == 0)
    }

    @Test func `if all are cancelled, the transfer ends, and the next call begins another one`() async throws {
        let origin = Origin()
        let calls = calls(100, origin.transport) { _ in request }
        try await waitForWaiters(100)
        await origin.gate.waitForArrivals()
        for call in calls { call.cancel() }
        for call in calls { await #expect(throws: CancellationError.self) { try await call.valueInTime } }
        try await waitUntil { origin.gate.cancelled == 1 }
        origin.gate.open()
        let next = self.calls(1, origin.transport) { _ in request }
        #expect(try await next[0].valueInTime.data == Data("2".utf8))
    }

    @Test func `a failure is everybody's, and starts nothing`() async throws {
        let origin = Origin { _ in throw URLError(.cannotConnectToHost) }
        let calls = calls(50, origin.transport) { _ in request }
        try await waitForWaiters(50)
        origin.gate.open()
        for call in calls {
            await expectError(.cannotConnectToHost) { try await call.valueInTime }
        }
        #expect(origin.seen.count == 1)
    }

    @Test func `what came before a body broke off reaches everybody`() async throws {
        let origin = Origin { _ in
            let (pieces, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
            continuation.yield(Data("abc".utf8))
            continuation.finish(throwing: URLError(.networkConnectionLost))
            return .init(body: .init(pieces))
        }
        let calls = calls(3, origin.transport) { _ in request }
        try await waitForWaiters(3)
        origin.gate.open()
        for call in calls {
            await expectError(.networkConnectionLost) { try await call.valueInTime }
        }
        #expect(origin.seen.count == 1)
    }

    /// Reads the content twice, so that 1 becomes 11.
    private struct DoublingDecoder: ResponseDecoder {
        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            try JSONDecoder().decode(type, from: data + data)
        }
    }

    @Test func `each call has its own deadline, validators and decoder`() async throws {
        let (origin, clock) = (Origin(), TestClock())
        let calls = calls(4, origin.transport) { _ in
            request
        } _: { index, config in
            config.clock = clock
            if index == 0 { config.deadline = .seconds(1) }
            if index == 1 { config.validators = [.init { _ in throw URLError(.userAuthenticationRequired) }] }
            if index == 2 { config.decoder = DoublingDecoder() }
        }
        try await waitForWaiters(4)
        await clock.advance(by: .seconds(2))
        await expectError(.deadlineExceeded) { try await calls[0].valueInTime }
        origin.gate.open()
        await #expect(throws: URLError.self) { try await calls[1].valueInTime }
        let (doubled, plain) = (try await calls[2].valueInTime, try await calls[3].valueInTime)
        #expect(plain.data == Data("1".utf8))
        #expect(try plain.decode(Int.self) == 1)
        #expect(try doubled.decode(Int.self) == 11)
        #expect(origin.seen.count == 1)
    }

    /// Each of these makes two requests different.
    @Test(arguments: [
        "credentials", "field", "method", "URL", "session", "transport", "limit", "time", "progress", "cellular",
        "trace",
    ])
    func `requests that differ have transfers of their own`(difference: String) async throws {
        let (origin, other) = (Origin(), URLSession(configuration: .ephemeral))
        let transport = origin.transport
        let tasks = (0..<2).map { index in
            var request = request
            switch (index, difference) {
            case (1, "credentials"): request.setValue("Bearer other", forHTTPHeaderField: "Authorization")
            case (1, "field"): request.setValue("de", forHTTPHeaderField: "Accept-Language")
            case (1, "trace"): request.setValue("1", forHTTPHeaderField: "X-Debug-Trace")
            case (1, "method"): request.httpMethod = "HEAD"
            case (1, "URL"): request.url?.append(queryItems: [URLQueryItem(name: "c", value: "1")])
            case (1, "time"): request.timeoutInterval = 7
            case (1, "cellular"): request.allowsCellularAccess = false
            default: break
            }
            let session = index == 1 && difference == "session" ? other : .shared
            return Task { [request] in
                try await session.response(for: request, config: .silent) {
                    ($0.coalesces, $0.transport) = (true, transport)
                    if index == 1, difference == "transport" { $0.transport = origin.transport }
                    if index == 1, difference == "limit" { $0.responseLimit = 5 }
                    if index == 1, difference == "progress" { $0.progress = { _ in } }
                }
            }
        }
        await origin.gate.waitForArrivals(2)
        origin.gate.open()
        for task in tasks { _ = try await task.valueInTime }
        #expect(origin.seen.count == 2)
    }

    @Test(arguments: ["POST", "PUT", "DELETE"]) func `unsafe requests are never shared`(method: String) async throws {
        let origin = Origin()
        let calls = calls(2, origin.transport) { _ in
            var request = request
            request.httpMethod = method
            return request
        }
        await origin.gate.waitForArrivals(2)
        origin.gate.open()
        for call in calls { _ = try await call.valueInTime }
        #expect(origin.seen.count == 2)
    }

    @Test(arguments: [false, true], [false, true])
    func `who asks after a PUT, even a failed or plain one, does not get the response to an earlier request`(
        fails: Bool, coalesces: Bool
    ) async throws {
        let origin = Origin()
        let before = calls(1, origin.transport) { _ in request }
        let transport = origin.transport
        let joined = calls(1, transport) { _ in request }
        await origin.gate.waitForArrivals(2)
        let other = Origin { _ in
            // The server may have done it.
            if fails { throw URLError(.networkConnectionLost) }
            return .init(status: .noContent)
        }
        other.gate.open()
        var put = request
        put.httpMethod = "PUT"
        _ = try? await URLSession.shared.response(for: put, config: .silent) {
            ($0.coalesces, $0.transport) = (coalesces, other.transport)
        }
        let after = calls(1, transport) { _ in request }
        await origin.gate.waitForArrivals(3)
        origin.gate.open()
        var texts: Set<Data> = []
        for call in before + joined + after { texts.insert(try await call.valueInTime.data) }
        #expect(texts.count == 3)
    }

    @Test func `people whom only the cache tells apart share nothing, even if the store fails`() async throws {
        let directory = TemporaryDirectory()
        // No folder can be made in a file.
        let cache = HTTPCache.disk(megabytes: 1, in: try directory.file("file").appending(path: "folder"))
        let origin = Origin()
        let calls = calls(2, origin.transport) { _ in
            request
        } _: {
            $1.cache = cache
            $1.cache?.requester = "user \($0)"
        }
        try await waitForWaiters(2)
        await origin.gate.waitForArrivals(2)
        origin.gate.open()
        var texts: Set<Data> = []
        for call in calls { texts.insert(try await call.valueInTime.data) }
        #expect(texts.count == 2)
    }

    @Test(arguments: [true, false])
    func `calls that share a failure share its retry, and the budget pays once`(isLost: Bool) async throws {
        let (origin, second, seen, clock) = (Gate(), Gate(), Recorder<Void>(), TestClock())
        let transport = Transport { _ in
            let count = seen.note(())
            await (count == 1 ? origin : second).pass()
            if count > 1 { return .init(body: .init(Data("\(count)".utf8))) }
            if isLost { throw URLError(.cannotConnectToHost) }
            return .init(status: .serviceUnavailable)
        }
        let (budget, ended) = (RetryPolicy.Budget(), Recorder<Void>())
        let calls = calls(100, transport) { _ in
            request
        } _: {
            $1.retry = RetryPolicy(attempts: 2)
            ($1.retry.budget, $1.clock, $1.deadline) = (budget, clock, nil)
            $1.validators = [.init { _ in ended.note(()) }]
        }
        try await waitForWaiters(100)
        origin.open()
        try await waitUntil { clock.sleepers + ended.count == 100 }
        #expect(clock.sleepers == 100)
        #expect(Set(clock.asked).count == 1)
        clock.move(by: .seconds(1))
        try await waitForWaiters(100)
        second.open()
        for call in calls { #expect(try await call.valueInTime.data == Data("2".utf8)) }
        #expect(seen.count == 2)
        var rest = 0
        while budget.spend("api.test") { rest += 1 }
        #expect(rest == 9)
    }

    @Test func `two validations of a stored response are one transfer`() async throws {
        let origin = Origin { count in
            count == 1
                ? .init(headerFields: [.eTag: "\"1\"", .cacheControl: "no-cache"], body: .init(Data("1".utf8)))
                : .init(status: .notModified, headerFields: [.eTag: "\"1\""])
        }
        origin.gate.open()
        let cache = HTTPCache.memory(megabytes: 1)
        _ = try await calls(1, origin.transport, request: { _ in request }, { $1.cache = cache })[0].valueInTime
        let held = Origin(origin.respond)
        // The same identity, so that both are one server.
        let transport = Transport { request in
            let count = origin.seen.note(request.urlRequest)
            await held.gate.pass()
            return try origin.respond(count)
        }
        let calls = calls(20, transport, request: { _ in request }, { $1.cache = cache })
        try await waitForWaiters(20)
        held.gate.open()
        for call in calls {
            let response = try await call.valueInTime
            #expect(response.data == Data("1".utf8))
            #expect(response.status == .ok)
            #expect(response.cacheStatus?.forwardStatus == .notModified)
        }
        #expect(origin.seen.count == 2)
        #expect(origin.seen.entries[1].value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
    }

    @Test func `calls to stubs share transfers`() async throws {
        let gate = Gate()
        try await HTTPStubs.with {
            $0.get("/*") { _ in
                await gate.pass()
                return .text("x")
            }
        } operation: {
            async let one = URLSession.shared.response(for: request, config: .silent) { $0.coalesces = true }
            async let two = URLSession.shared.response(for: request, config: .silent) { $0.coalesces = true }
            try await waitForWaiters(2)
            gate.open()
            #expect(try await [one.data, two.data] == [Data("x".utf8), Data("x".utf8)])
            #expect(HTTPStubs.requests.count == 1)
        }
    }

    @Test func `a thousand calls that come and go at random lose nothing`() async throws {
        var generator = SeededGenerator.ofThisRun()
        let origin = Origin()
        origin.gate.open()
        let transport = origin.transport
        let cancelled = (0..<1000).map { _ in Bool.random(using: &generator) }
        let calls = calls(1000, transport) { _ in request }
        for (call, isCancelled) in zip(calls, cancelled) where isCancelled { call.cancel() }
        for (call, isCancelled) in zip(calls, cancelled) {
            do {
                #expect(try await !call.valueInTime.data.isEmpty)
            } catch is CancellationError {
                #expect(isCancelled)
            }
        }
        #expect(SharedTransfer.waiters(for: request.url) == 0)
    }
}
