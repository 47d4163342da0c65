import Testing
import URLConfigTesting

@testable import URLConfig

/// What is removed or replaced while responses are on their way, and what a response removes.
@Suite(.inTime) struct CacheRemovalTests {
    enum Kind: CaseIterable { case memory, disk, app }

    private let directory = TemporaryDirectory()
    private let clock = TestClock()
    private let seen = Recorder<URLRequest>()
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/me") }

    private func cache(_ kind: Kind) -> HTTPCache {
        switch kind {
        case .memory: .memory(megabytes: 10)
        case .disk: .disk(megabytes: 10, in: directory.url.appending(component: "cache"))
        case .app: HTTPCache(store: AppStore())
        }
    }

    private func reply(
        _ text: String, _ control: String = "max-age=60", status: Int = 200, vary: String? = nil
    ) -> Transport.Response {
        var fields: HTTPFields = [.cacheControl: control, .eTag: "\"\(text)\""]
        fields[.vary] = vary
        return .init(status: .init(code: status), headerFields: fields, body: .init(Data(text.utf8)))
    }

    private func config(
        _ cache: HTTPCache, _ respond: @escaping @Sendable () async throws -> Transport.Response
    ) -> @Sendable (inout URLSession.Config) -> Void {
        { [clock, seen] config in
            (config.cache, config.clock) = (cache, clock)
            config.transport = Transport {
                seen.note($0.urlRequest)
                return try await respond()
            }
        }
    }

    /// The response to a request; by default the server says "new".
    @discardableResult
    private func send(
        _ cache: HTTPCache, of request: URLRequest? = nil,
        _ respond: (@Sendable () async throws -> Transport.Response)? = nil
    ) async throws -> DataResponse {
        let config = config(cache, respond ?? { [self] in reply("new") })
        return try await URLSession.shared.response(for: request ?? self.request, config: .silent, config)
    }

    /// A call whose response comes when the gate is opened.
    private func late(
        _ cache: HTTPCache, of request: URLRequest? = nil, _ gate: Gate, _ response: Transport.Response
    ) async -> Task<DataResponse, any Error> {
        let arrived = gate.arrivals
        let call = Task {
            try await send(cache, of: request) {
                await gate.pass()
                return response
            }
        }
        await gate.waitForArrivals(arrived + 1)
        return call
    }

    private func request(_ method: String = "GET", _ fields: [String: String] = [:]) -> URLRequest {
        var request = request
        request.httpMethod = method
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private var reload: URLRequest {
        var request = request
        request.cachePolicy = .reloadIgnoringLocalCacheData
        return request
    }

    // MARK: On the way

    @Test(arguments: Kind.allCases, ["requester", "other requester", "all", "URL"])
    func `what is removed while a response is on its way is not stored`(kind: Kind, removal: String) async throws {
        var cache = cache(kind)
        cache.requester = "user 7"
        let gate = Gate()
        let call = await late(cache, gate, reply("private"))
        switch removal {
        case "requester": try await cache.removeResponses(for: "user 7")
        case "other requester": try await cache.removeResponses(for: "user 8")
        case "all": try await cache.removeAll()
        default: try await send(cache, of: request("PUT")) { .init() }
        }
        gate.open()
        let stays = removal == "other requester"
        let response = try await call.valueInTime
        #expect(try response.text() == "private")
        #expect(response.cacheStatus?.isStored == stays)
        #expect(try await send(cache).text() == (stays ? "private" : "new"))
    }

    @Test(arguments: Kind.allCases) func `the responses to one requester are removed, and no others`(
        kind: Kind
    ) async throws {
        let names = ["Ada", "Bob"]
        let caches = [cache(kind)].flatMap { cache in
            names.map { name in
                var cache = cache
                cache.requester = name
                return cache
            }
        }
        for (cache, name) in zip(caches, names) { try await send(cache) { [self] in reply(name) } }
        try await caches[0].removeResponses(for: "Ada")
        #expect(try await send(caches[0]).text() == "new")
        #expect(try await send(caches[1]).text() == "Bob")
    }

    @Test(arguments: Kind.allCases) func `what is removed while a stream is read is not stored`(
        kind: Kind
    ) async throws {
        let (cache, gate) = (cache(kind), Gate())
        let stream = try await URLSession.shared.stream(
            for: request, config: .silent, config(cache) { [self] in slow("private", gate) })
        try await cache.removeAll()
        gate.open()
        #expect(try await stream.collect(upTo: 100).text() == "private")
        #expect(try await send(cache).text() == "new")
    }

    /// A response whose body ends when the gate is opened.
    private func slow(_ text: String, _ gate: Gate) -> Transport.Response {
        let pieces = Locked([Data(text.utf8)])
        var response = reply(text)
        response.body = .init(
            AsyncStream<Data>(unfolding: {
                await gate.pass()
                return pieces.withLock { $0.popLast() }
            }))
        return response
    }

    @Test(arguments: Kind.allCases) func `a response does not replace that to a later request`(
        kind: Kind
    ) async throws {
        let (cache, gate) = (cache(kind), Gate())
        let old = await late(cache, gate, reply("old"))
        let french = await late(
            cache, of: request("GET", ["Accept-Language": "fr"]), gate, reply("fr", vary: "Accept-Language"))
        try await send(cache, of: request("PUT")) { .init() }
        #expect(try await send(cache).cacheStatus?.isStored == true)
        gate.open()
        for call in [old, french] { #expect(try await call.valueInTime.cacheStatus?.isStored == false) }
        let next = try await send(cache) { [self] in reply("newer") }
        #expect(try next.text() == "new")
    }

    /// What the later request brings, and whether what was asked before may be stored.
    @Test(arguments: ["stored", "not stored", "removed", "valid", "other variant", "refused", "failed"])
    func `a response is stored unless a later request has brought a newer one`(later: String) async throws {
        let (cache, gate) = (HTTPCache.memory(megabytes: 1), Gate())
        let vary = later == "valid" ? nil : "Accept-Language"
        if later == "valid" { try await send(cache) { [self] in reply("a", "no-cache") } }
        let call = await late(cache, of: reload, gate, reply("old", vary: vary))
        let request = later == "other variant" ? request("GET", ["Accept-Language": "fr"]) : request
        _ = try? await send(cache, of: request) { [self] in
            switch later {
            case "not stored": reply("new", "no-store", vary: vary)
            case "removed": reply("new", "x", status: 410, vary: vary)
            case "valid": .init(status: .notModified, headerFields: [.eTag: "\"a\""])
            case "refused": reply("new", "no-store", status: 429, vary: vary)
            case "failed": throw URLError(.networkConnectionLost)
            default: reply("new", vary: vary)
            }
        }
        gate.open()
        let isStored = ["other variant", "refused", "failed"].contains(later)
        #expect(try await call.valueInTime.cacheStatus?.isStored == isStored)
        let count = seen.count
        try await send(cache)
        #expect((seen.count == count) == (isStored || later == "stored"))
    }

    @Test func `a stream that ends late does not replace the response to a later request`() async throws {
        let (cache, gate) = (HTTPCache.memory(megabytes: 1), Gate())
        let stream = try await URLSession.shared.stream(
            for: request, config: .silent, config(cache) { [self] in slow("old", gate) })
        try await send(cache, of: reload)
        gate.open()
        #expect(try await stream.collect(upTo: 100).text() == "old")
        let next = try await send(cache) { [self] in reply("newer") }
        #expect(try next.text() == "new")
    }

    // MARK: Not stored

    /// The response, and whether the earlier one stays.
    @Test(arguments: Kind.allCases, [401, 403, 407, 408, 429, 500, 503, 200, 404, 410, 304])
    func `a response that is not stored removes at most that to the same request`(
        kind: Kind, status: Int
    ) async throws {
        var own = cache(kind)
        own.requester = "Ada"
        var other = own
        other.requester = "Bob"
        let gate = Gate()
        for language in ["en", "fr"] {
            let request = request("GET", ["Accept-Language": language])
            for cache in [own, other] {
                try await send(cache, of: request) { [self] in reply(language, vary: "Accept-Language") }
            }
        }
        let arriving = await late(
            other, of: request("GET", ["Accept-Language": "it"]), gate, reply("it", vary: "Accept-Language"))
        var reload = request("GET", ["Accept-Language": "en"])
        reload.cachePolicy = status == 304 ? .reloadRevalidatingCacheData : .reloadIgnoringLocalCacheData
        try await send(own, of: reload) { [self] in
            var response = reply("en", "no-store", status: status, vary: "Accept-Language")
            if status == 304 { response.body = .init() }
            return response
        }
        gate.open()
        _ = try await arriving.valueInTime
        for (cache, languages) in [(own, ["en", "fr"]), (other, ["en", "fr", "it"])] {
            for language in languages {
                let isRemoved = cache.requester == "Ada" && language == "en" && [200, 404, 410, 304].contains(status)
                let response = try await send(cache, of: request("GET", ["Accept-Language": language]))
                #expect(response.fromCache != isRemoved, "\(cache.requester ?? "") \(language)")
            }
        }
    }

    @Test func `no earlier response appears in place of one that is not valid any more`() async throws {
        let cache = HTTPCache.memory(megabytes: 1)
        // The server forgets what it selects by.
        try await send(cache) { [self] in reply("first", vary: "Accept-Language") }
        await clock.advance(by: .seconds(1))
        try await send(cache, of: reload) { [self] in reply("second") }
        try await send(cache, of: reload) { [self] in reply("third", "no-store") }
        #expect(try await send(cache).text() == "new")
    }
}
