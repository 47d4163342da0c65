import InMemoryLogging
import Logging
import Testing
import URLConfigTesting

@testable import URLConfig

/// Pages that fail or lead in a circle, and the configuration of each page.
@Suite(.inTime) struct PagesErrorTests {
    private struct APIError: Decodable, Error {
        let message: String
    }

    @Test(.stubs { $0.pages(5) { $0 == 3 ? .notFound : .ok } })
    func `another status on the third page is an error, after which nothing comes`() async throws {
        let (pages, thrown) = await stubs.pages().outcome
        let error = thrown as? RequestError
        #expect(pages.count == 2)
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.url?.query() == "page=3")
        #expect(error?.attempts.count == 1)
        #expect(HTTPStubs.requests.count == 3)
    }

    @Test(.stubs { $0.pages(5) { $0 == 3 ? .notFound : .ok } })
    func `a validator comes first, so that the API's own error is thrown`() async throws {
        let error = await #expect(throws: APIError.self) {
            try await stubs.pages { $0.validators = [.orThrow(APIError.self)] }.all
        }
        #expect(error?.message == "page 3")
    }

    @Test(.stubs { $0.pages(3) { _ in HTTPStubs.requests.count == 2 ? .serviceUnavailable : .ok } })
    func `each page is retried, validated and logged, with the line of the caller`() async throws {
        let (logger, log) = Logger.recording()
        let validated = Recorder<String>()
        let line: UInt = #line + 1
        let pages = stubs.session.pages(for: stubs.request("/articles"), config: .silent) {
            $0.retry = .standard
            $0.validators = [ResponseValidator { validated.note($0.url?.query() ?? "") }]
            $0.logger = logger
        }
        let attempts = try await pages.all.map(\.attempts.count)
        #expect(attempts == [1, 2, 1])
        #expect(validated.entries == ["", "page=2", "page=3"])
        let signs = log.entries.map { $0.message.description.prefix(1) }
        #expect(signs == ["🛫", "🛬", "🛫", "🔁", "🛫", "🛬", "🛫", "🛬"])
        for entry in log.entries { #expect("\(entry.metadata["source"] ?? "")" == "\(#fileID):\(line)") }
    }

    @Test func `each page has the whole deadline`() async throws {
        let clock = TestClock()
        try await HTTPStubs.with {
            $0.pages(4) { number in
                // The last page takes longer than its deadline.
                clock.move(by: number == 4 ? .seconds(6) : .seconds(4))
                return .ok
            }
        } operation: {
            let (pages, error) = await stubs.pages { ($0.clock, $0.deadline) = (clock, .seconds(5)) }.outcome
            #expect(pages.count == 3)
            #expect((error as? RequestError)?.code == .deadlineExceeded)
        }
    }

    @Test(arguments: [
        ("ftp://127.0.0.1/x", "its target is not an http or https URL with a host"),
        ("file:///etc/passwd", "its target is not an http or https URL with a host"),
        ("javascript:alert(1)", "its target is not an http or https URL with a host"),
        ("http:///x", "its target is not an http or https URL with a host"),
        ("http://user:s3cret@127.0.0.1:1/", "its target contains a user name (RFC 9110 §4.2.4)"),
        ("//user@127.0.0.1:1/", "its target contains a user name (RFC 9110 §4.2.4)"),
        ("http://127.0.0.1:65536/", "the URL is not http or https with a host"),
    ])
    func `a target that may not be requested is an error after the page`(target: String, reason: String) async throws {
        try await Origins.serving { origins in
            let request = URLRequest.with(.init(host: origins.a.page(next: target)))
            let (pages, thrown) = await origins.a.pages(for: request).outcome
            let error = thrown as? RequestError
            #expect(pages.count == 1)
            #expect(error?.code == .invalidResponse)
            #expect(error?.reason == "the link to the next page is not followed: \(reason)")
            #expect(error?.response?.status == .ok)
            #expect(origins.seen.count == 1)
        }
    }

    @Test func `a request that cannot be built says why`() async throws {
        let request = URLRequest.with(.init(host: "https://h.example")) { $0.path = "/\("..")" }
        await expectError(.invalidURL) { try await URLSession.shared.pages(for: request, config: .silent).all }
    }

    @Test(.stubs { $0.post("/articles", .text("").field(.init("Link")!, "<?page=2>; rel=next")).times(1) })
    func `a body stream, which can be sent once, is enough for one page only`() async throws {
        var request = stubs.request("/articles") { $0.method = .post }
        request.httpBodyStream = InputStream(data: Data("words".utf8))
        let (pages, error) = await stubs.pages(for: request).outcome
        #expect(pages.count == 1)
        #expect((error as? RequestError)?.code == .invalidRequest)
    }

    @Test func `cancelled while a page is awaited`() async throws {
        let gate = Gate()
        defer { gate.open() }
        try await HTTPStubs.with {
            $0.pages(5) {
                if $0 == 2 { await gate.pass() }
                return .ok
            }
        } operation: {
            let task = Task { try await stubs.pages().all }
            await gate.waitForArrivals()
            await task.expectCancelled()
            #expect(HTTPStubs.requests.count == 2)
        }
    }

    @Test(.stubs { $0.pages(5) }) func `cancelled between two pages`() async throws {
        let isAsked = Locked(false)
        let paging = stubs.pages { _ in
        } next: { _ in
            isAsked.set(\.self, true)
            return nil
        }
        let task = Task {
            var pages: [DataResponse] = []
            for try await page in paging {
                pages.append(page)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return pages
        }
        await #expect(throws: CancellationError.self) { try await task.valueInTime }
        #expect(HTTPStubs.requests.count == 1)
        #expect(!isAsked.withLock { $0 })
    }

    // Pages that lead back to pages that were requested before.

    @Test(arguments: [(1, "", "GET"), (1, "#part", "POST"), (3, "#part", "GET"), (3, "", "POST")])
    func `a loop ends with an error`(length: Int, fragment: String, method: String) async throws {
        try await HTTPStubs.with {
            for number in 0..<length {
                let next = number == length - 1 ? "/0?token=s3cret\(fragment)" : "/\(number + 1)"
                $0.any("/\(number)", .json("[]").field(.init("Link")!, "<\(next)>; rel=next")).times(1)
            }
        } operation: {
            let request = stubs.request("/0?token=s3cret") {
                $0.method = .init(method) ?? .get
                if method == "POST" { ($0.body, $0.idempotencyKey) = (.text("words"), .automatic) }
            }
            let (pages, thrown) = await stubs.pages(for: request).outcome
            let error = thrown as? RequestError
            #expect(pages.count == length)
            #expect(error?.code == .invalidResponse)
            #expect(error?.response?.url?.path() == "/\(length - 1)")
            #expect(error?.reason.hasSuffix("was requested before; the pages form a loop") == true)
            #expect(error?.reason.hasPrefix("the next page, \(method) \(stubs.host)/0?token=***") == true)
        }
    }

    @Test(.stubs { $0.any("/") }) func `what differs in method, body or a field is another page`() async throws {
        let changes: [@Sendable (inout URLRequest.Config) -> Void] = [
            { _ in }, { $0.method = .post },
            { ($0.method, $0.body) = (.post, .data(Data(count: 1000), contentType: .json)) },
            { ($0.method, $0.body) = (.post, .data(Data(count: 999) + [1], contentType: .json)) },
            { $0.headers[.accept] = "text/plain" }, { $0.query["a"] = 1 },
        ]
        let requests = changes.map { stubs.request("/", $0) }
        let index = Locked(0)
        let pages = stubs.pages(for: requests.first) { _ in
        } next: { _ in
            index.withLock { index in
                index += 1
                return index < requests.count ? requests[index] : nil
            }
        }
        let count = try await pages.all.count
        #expect(count == requests.count)
    }

    @Test(.stubs { $0.post("/") { .data($0.body) } })
    func `another body in the same place is found in a chain of thousands`() async throws {
        let first = stubs.request { ($0.method, $0.body) = (.post, .text("0")) }
        let pages = stubs.pages(for: first) { _ in
        } next: { page in
            let number = (Int(try page.text()) ?? 0) + 1
            return stubs.request { ($0.method, $0.body) = (.post, .text("\(number == 5000 ? 17 : number)")) }
        }
        var count = 0
        await expectError(.invalidResponse) { for try await _ in pages { count += 1 } }
        #expect(count == 5000)
    }
}
