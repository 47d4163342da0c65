import Testing
import URLConfig

@testable import URLConfigTesting

struct ResponseTests {
    struct Name: Codable {
        var firstName: String
    }

    struct Case: Sendable {
        let name: String
        let response: HTTPStubs.Response
        let check: @Sendable (DataResponse) throws -> Bool

        init(_ response: HTTPStubs.Response, _ check: @escaping @Sendable (DataResponse) throws -> Bool) {
            (name, self.response, self.check) = ("\(response.status.code)", response, check)
        }
    }

    @Test(arguments: [
        Case(.json(user)) { try $0.validated(contentType: .json).decode(User.self) == user },
        Case(.json(#"{"id": 3}"#, status: .created)) { $0.data == Data(#"{"id": 3}"#.utf8) && $0.status == .created },
        Case(.text("grün")) { try $0.text() == "grün" },
        Case(.data(Data([0, 255]), contentType: "image/png")) { $0.data == Data([0, 255]) && $0.isSuccess },
        Case(.status(.noContent)) { $0.status == .noContent && $0.data.isEmpty },
        Case(.redirect(to: "/v2/target")) { $0.url?.path() == "/v2/target" && $0.attempts.count == 2 },
        Case(.challenge(#"Basic realm="a""#)) { $0.headerFields[.wwwAuthenticate] == #"Basic realm="a""# },
        Case(.text("a").cookie("a=1; Path=/").cookie("b=2")) { $0.cookies.map(\.name) == ["a", "b"] },
        Case(.text("a").field(.eTag, "1").field(.eTag, "2")) { $0.headerFields[values: .eTag] == ["2"] },
        Case(.text("a b c").chunks(2, every: .seconds(9))) { try $0.text() == "a b c" && $0.duration == .seconds(18) },
        Case(.text("a").delay(.seconds(9))) { $0.duration == .seconds(9) },
        Case(.lostConnection) { $0.attempts.count == 2 },
    ])
    func `a stub sends`(_ test: Case) async throws {
        try await HTTPStubs.with {
            $0.get("/v2/users/1", test.response).times(1)
            $0.get("/v2/*").optional()
        } operation: {
            let response = try await send()
            #expect(try test.check(response))
        }
    }

    @Test(
        arguments: [
            (.error(.notConnectedToInternet), .notConnectedToInternet), (.stall, .timedOut),
            (.text("Hello").truncated(after: 2), .networkConnectionLost), (.text("Hello").stalled(after: 2), .timedOut),
            (.text("Hello").delay(.seconds(31)), .timedOut),
        ] as [(HTTPStubs.Response, URLError.Code)])
    func `a fault works through the real loop`(_ response: HTTPStubs.Response, _ code: URLError.Code) async throws {
        try await HTTPStubs.with {
            $0.get("/v2/users/1", response).times(3)
        } operation: {
            let error = await #expect(throws: URLError.self) {
                try await send(request: { $0.timeout = .seconds(30) }, { $0.retry = .standard })
            }
            #expect(error?.code == code)
            try #expect(#require(error).attempts.count == 3)
        }
    }

    @Test(
        arguments: [.stall, .text("Hello").stalled(after: 2), .text("Hello").delay(.seconds(60))]
            as [HTTPStubs.Response])
    func `a deadline passes on the clock of the scope`(_ response: HTTPStubs.Response) async throws {
        try await HTTPStubs.with {
            $0.get("/v2/users/1", response)
        } operation: {
            let error = await #expect(throws: RequestError.self) { try await send { $0.deadline = .seconds(20) } }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    /// The retry budget of a process would allow ten of them.
    @Test(arguments: 1...30) func `a retry waits for nothing, and no limit passes by itself`(_: Int) async throws {
        try await HTTPStubs.with {
            let busy = HTTPStubs.Response.status(.serviceUnavailable).field(.retryAfter, "50")
            $0.get("/v2/users/1", busy, busy, .json(user))
        } operation: {
            let response = try await send(
                request: { $0.timeout = .seconds(1) }, { ($0.retry, $0.deadline) = (.standard, .seconds(101)) })
            #expect(response.duration == .seconds(100))
            #expect(response.attempts.count == 3)
        }
    }

    /// The stub that the time limit has ended must not move the time of the next attempt.
    @Test(arguments: 1...50) func `an attempt that is too slow takes its time limit, no longer`(_: Int) async throws {
        try await HTTPStubs.with {
            $0.get("/v2/users/1", .text("").delay(.seconds(1000)), .text(""))
        } operation: {
            let response = try await send(
                request: { $0.timeout = .seconds(10) }, { ($0.retry, $0.deadline) = (.standard, .seconds(20)) })
            #expect(response.duration < .seconds(11))
        }
    }

    /// The limit of the request, the one of the session, the stub, and when the attempt ends; `nil` for a response.
    @Test(
        arguments: [
            (100, 60, .stall, 100), (nil, 60, .stall, 60), (nil, 10, .stall, 10),
            (100, 60, .text("a").stalled(after: 0), 100),
            (nil, 60, .text("a").delay(.seconds(61)), 60), (nil, 60, .text("a").delay(.seconds(59)), nil),
            (nil, 10, .text("a").delay(.seconds(20)), 10), (200, 60, .text("a").delay(.seconds(100)), nil),
            (nil, 60, .text("abc").chunks(1, every: .seconds(61)), 60),
            (nil, 60, .text("abc").chunks(1, every: .seconds(59)), nil),
        ] as [(Int?, Double, HTTPStubs.Response, Int?)])
    func `the limit of the request counts, or else the one of the session`(
        _ own: Int?, _ sessions: Double, _ response: HTTPStubs.Response, _ end: Int?
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = sessions
        let session = URLSession(configuration: configuration)
        try await HTTPStubs.with {
            $0.get("/v2/users/1", response)
        } operation: {
            func get() async throws {
                try await send(session: session, request: { if let own { $0.timeout = .seconds(own) } })
            }
            guard let end else { return try await get() }
            let error = await #expect(throws: URLError.self) { try await get() }
            #expect(error?.code == .timedOut)
            #expect(error?.attempts.map(\.duration) == [.seconds(end)])
        }
    }

    @Test(arguments: [HTTPStubs.Response.text("a").delay(.seconds(60)), .text("abc").chunks(1, every: .seconds(60))])
    func `the limit of an upload and of a stream is for silence`(_ response: HTTPStubs.Response) async throws {
        try await HTTPStubs.with {
            $0.any("/v2", response)
        } operation: {
            for limit in [Duration.seconds(10), .seconds(61)] {
                let request = URLRequest.with(.api) { ($0.method, $0.timeout) = (.put, limit) }
                func upload() async throws {
                    try await URLSession.shared.upload(.data(Data(count: 5)), for: request) { $0.logger = nil }
                }
                func stream() async throws {
                    let stream = try await URLSession.shared.stream(for: request) { $0.logger = nil }
                    for try await _ in stream.chunks {}
                }
                for send in [upload, stream] {
                    guard limit < .seconds(60) else {
                        try await send()
                        continue
                    }
                    let error = await #expect(throws: URLError.self) { try await send() }
                    #expect(error?.code == .timedOut)
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `a response that came late or after a retry is stored, and ages while later calls wait`(isRetried: Bool)
        async throws
    {
        let cache = HTTPCache.memory(megabytes: 1)
        try await HTTPStubs.with {
            $0.get("/v2/users/1") { request in
                if isRetried, request.attempt == 1 { return .status(.serviceUnavailable).field(.retryAfter, "30") }
                return .text("a").field(.cacheControl, "max-age=100").delay(isRetried ? .zero : .seconds(30))
            }
            $0.get("/v2/slow", .text("").delay(.seconds(50)))
        } operation: {
            func get() async throws -> CacheStatus? {
                try await send { ($0.cache, $0.retry) = (cache, .standard) }.cacheStatus
            }
            var status = try await get()
            #expect(status?.isHit == false)
            for age in [0, 50] {
                status = try await get()
                #expect(status?.isHit == true)
                #expect(status?.age == .seconds(age + (isRetried ? 0 : 30)))
                try await send("/slow")
            }
            status = try await get()
            #expect(status?.isHit == false)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `events arrive one by one, and the next connection follows at once`()
        async throws
    {
        try await HTTPStubs.with {
            $0.get("/v2/events", .status(.serviceUnavailable).field(.retryAfter, "60")).times(2)
            $0.get("/v2/events", .events([.init(data: "a\nb", id: "1"), .init(event: "end", data: "c")]))
                .field(.init("Last-Event-ID")!, nil).times(1)
            $0.get("/v2/events", .status(.noContent)).field(.init("Last-Event-ID")!, "1")
        } operation: {
            var events: [String] = []
            let request = URLRequest.with(.api) { $0.path = "/events" }
            for try await event in URLSession.shared.events(for: request) { events.append(event.event + event.data) }
            #expect(events == ["messagea\nb", "endc"])
        }
    }

    @Test(arguments: ["a\rb", "a\r\nb", "a\n\n\rb\r", "\r\u{301}b", ""])
    func `the data of an event may have any line breaks`(_ data: String) async throws {
        try await HTTPStubs.with {
            $0.get("/v2", .events([.init(data: data), .init(data: "end")]))
        } operation: {
            var events: [String] = []
            for try await event in try await URLSession.shared.stream(for: .with(.api)).events {
                events.append(event.data)
            }
            let lines = data.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
            #expect(events.map { Array($0.utf8) } == [lines, "end"].map { Array($0.utf8) })
        }
    }

    @Test(arguments: ["a\ndata: b", "a\rb", "a\r\nb", "\n"])
    func `a line break in the type or the ID of an event is an issue at the route`(_ text: String) async throws {
        for event in [ServerSentEvent(event: text), ServerSentEvent(id: text)] {
            let found = try await refusal { $0.get("/v2/users/1", .events([.init(data: "a"), event]), line: 4) }
            #expect(found.text.contains("cannot respond: event 2 has a line break in its type or ID"))
            #expect(found.line == 4)
        }
    }

    @Test(.stubs { $0.put("/v2", .status(.ok)) }) func `a stub has received the whole upload`() async throws {
        let fractions = Locked<[Double?]>([])
        try await URLSession.shared.upload(.data(Data(count: 1000)), for: .with(.api) { $0.method = .put }) {
            $0.progress = { progress in fractions.withLock { $0.append(progress.fractionCompleted) } }
        }
        #expect(fractions.withLock { $0 }.last == 1)
    }

    @Test func `a stream that breaks off keeps what has arrived`() async throws {
        try await HTTPStubs.with {
            $0.get("/v2", .text("a\nb\nc").chunks(2).truncated(after: 4))
        } operation: {
            let stream = try await URLSession.shared.stream(for: .with(.api)) { $0.logger = nil }
            var lines: [String] = []
            await #expect(throws: URLError.self) { for try await line in stream.lines { lines.append(line) } }
            #expect(lines == ["a", "b"])
        }
    }

    @Test(
        .stubs {
            $0.get("/v2/users/1", HTTPStubs.Response.text("a").field("Link", "<2>; rel=next")).field("X-Tenant", "main")
        })
    func `header fields have names as text, too`() async throws {
        let response = try await send("/users/1", request: { $0.headers["X-Tenant"] = "main" })
        #expect(response.links["next"]?.target.absoluteString == "https://api.example.com/v2/users/2")
        let found = try await refusal { $0.get("/v2/users/1").field("X Tenant", "main").optional() }
        #expect(found.text.contains("'X Tenant' is not the name of a header field"))
    }

    @Test func `a model that cannot be encoded, and a file that is missing, are issues at the route`() async throws {
        for (response, text) in [
            (HTTPStubs.Response.text("a").field("Lin k", "b"), "'Lin k' is not the name of a header field"),
            (HTTPStubs.Response.json(Double.infinity), "cannot respond: "),
            (.file("none.json", in: .main), "there is no file"),
        ] {
            let found = try await refusal { $0.get("/v2/users/1", response, line: 4) }
            #expect(found.text.contains(text))
            #expect(found.line == 4)
        }
    }

    @Test func `a file of a bundle, an error of the app, and a real server`() async throws {
        let folder = try ReplayFolder()
        try Data("Ada".utf8).write(to: folder.url.appending(path: "name.txt"))
        let bundle = try #require(Bundle(path: folder.url.path))
        try await HTTPStubs.with {
            $0.get("/v2/users/1", .file("name.txt", in: bundle, contentType: "text/plain"))
            $0.get("/v2/users/2", .error(CancellationError()))
            $0.get("/v2/users/3", .network)
        } operation: {
            let text = try await send().text()
            #expect(text == "Ada")
            await #expect(throws: CancellationError.self) { try await send("/users/2") }
            let own = try await send("/users/3") { $0.transport = Transport { _ in .init(status: .created) } }
            #expect(own.status == .created)
        }
    }

    @Test func `a real server takes real time, so a deadline passes while it is silent`() async throws {
        try await HTTPStubs.with {
            $0.get("/v2/users/1", .network)
        } operation: {
            let error = await #expect(throws: RequestError.self) {
                try await send {
                    $0.transport = Transport { _ in
                        try await Task.sleep(for: .seconds(3600))
                        return .init()
                    }
                    $0.deadline = .milliseconds(50)
                }
            }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    @Test(.stubs { $0.get("/v2/users/1", .status(.accepted).delay(.seconds(30))) })
    func `a transport that is tested alone has the time of the scope`() async throws {
        let request = Transport.Request(URLRequest.with(.api) { $0.path = "/users/1" })
        let start = ContinuousClock.now
        #expect(try await Transport.urlSession.send(request).status == .accepted)
        // Of both times, only the one of the test's clock has passed.
        #expect(ContinuousClock.now - start < .seconds(30))

        try await HTTPStubs.with {
            $0.clock = TestClock()
            $0.get("/v2/users/1", .status(.created).delay(.seconds(20)))
        } operation: {
            let clock = try #require(HTTPStubs.clock)
            async let response = Transport.urlSession.send(
                Transport.Request(URLRequest.with(.api) { $0.path = "/users/1" }))
            #expect(await clock.nextSleep() == .seconds(20))
            await clock.advance(by: .seconds(20))
            #expect(try await response.status == .created)
        }
    }

    @Test(.stubs { $0.post("/v2/users", .status(.accepted)) })
    func `a transport that is tested alone passes requests on to the stubs`() async throws {
        let signing = Transport { request in
            var request = request
            request.urlRequest.setValue("signed", forHTTPHeaderField: "X-Signature")
            return try await Transport.urlSession.send(request)
        }
        let request = URLRequest.with(.api) { ($0.path, $0.method) = ("/users", .post) }
        #expect(try await signing.send(.init(request)).status == .accepted)
        let sent = try #require(HTTPStubs.requests.last)
        #expect(sent.headerFields[try #require(HTTPField.Name("X-Signature"))] == "signed")
    }

    @Test func `cookies are stored in the session, and models are encoded as the API does`() async throws {
        let session = URLSession(configuration: .ephemeral)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        try await HTTPStubs.with {
            $0.encoder = encoder
            $0.get("/v2/users/1", .json(Name(firstName: "Ada")).cookie("sid=31d4; Path=/"))
            $0.get("/v2/users/2").field(.cookie, "sid=31d4")
        } operation: {
            #expect(try await send(session: session, request: { _ in }).bodyString.contains("first_name"))
            try await send("/users/2", session: session, request: { _ in })
        }
    }
}
