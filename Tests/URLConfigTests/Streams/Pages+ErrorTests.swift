import FlyingFox
import InMemoryLogging
import Logging
import Testing

@testable import URLConfig

/// Pages that fail, and the configuration of each page.
@Suite(.timeLimit(.minutes(10))) struct PagesErrorTests {
    private struct APIError: Decodable, Error {
        let message: String
    }

    @Test func `another status on the third page is an error, after which nothing comes`() async throws {
        try await Loopback.servingPages(5) {
            $0 == 3 ? .notFound : .ok
        } _: { server, targets in
            let (pages, thrown) = await server.pages().outcome
            let error = thrown as? RequestError
            #expect(pages.count == 2)
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.url?.query() == "page=3")
            #expect(error?.attempts.count == 1)
            #expect(targets().count == 3)
        }
    }

    @Test func `a validator comes first, so that the API's own error is thrown`() async throws {
        try await Loopback.servingPages(5) {
            $0 == 3 ? .notFound : .ok
        } _: { server, _ in
            let error = await #expect(throws: APIError.self) {
                try await server.pages { $0.validators = [.orThrow(APIError.self)] }.all
            }
            #expect(error?.message == "page 3")
        }
    }

    @Test func `each page is retried, validated and logged, with the line of the caller`() async throws {
        let (logger, log) = Logger.recording()
        let tries = Locked(0)
        let validated = Locked<[String]>([])
        try await Loopback.servingPages(3) { number in
            let tries = tries.withLock { tries in
                tries += 1
                return tries
            }
            return tries == 2 ? .serviceUnavailable : .ok
        } _: { server, targets in
            let line: UInt = #line + 1
            let pages = server.session.pages(for: server.request("/articles"), config: .silent) {
                $0.retry = .standard.quick
                $0.validators = [
                    ResponseValidator { page in validated.withLock { $0.append(page.url?.query() ?? "") } }
                ]
                $0.logger = logger
            }
            let attempts = try await pages.all.map(\.attempts.count)
            #expect(attempts == [1, 2, 1])
            #expect(targets().count == 4)
            #expect(validated.withLock { $0 } == ["", "page=2", "page=3"])
            let signs = log.entries.map { $0.message.description.prefix(1) }
            #expect(signs == ["🛫", "🛬", "🛫", "🔁", "🛫", "🛬", "🛫", "🛬"])
            for entry in log.entries { #expect("\(entry.metadata["source"] ?? "")" == "\(#fileID):\(line)") }
        }
    }

    @Test func `each page has the whole deadline`() async throws {
        let clock = TestClock()
        try await Loopback.servingPages(4) { number in
            // The last page takes longer than its deadline.
            clock.advance(by: number == 4 ? .seconds(6) : .seconds(4))
            return .ok
        } _: { server, _ in
            let (pages, error) = await server.pages {
                $0.clock = clock
                $0.deadline = .seconds(5)
            }.outcome
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
        let error = await #expect(throws: RequestError.self) {
            try await URLSession.shared.pages(for: request, config: .silent).all
        }
        #expect(error?.code == .invalidURL)
    }

    @Test func `a body stream, which can be sent once, is enough for one page only`() async throws {
        try await Loopback.servingPages(2) { server, targets in
            var request = server.request("/articles") { $0.method = .post }
            request.httpBodyStream = InputStream(data: Data("words".utf8))
            let (pages, error) = await server.pages(for: request).outcome
            #expect(pages.count == 1)
            #expect((error as? RequestError)?.code == .invalidRequest)
            #expect(targets().count == 1)
        }
    }

    @Test func `cancelled while a page is awaited`() async throws {
        let (entered, signal) = AsyncStream.makeStream(of: Void.self)
        try await Loopback.servingPages(5) { number in
            guard number == 2 else { return .ok }
            signal.yield()
            try await Task.sleep(for: .seconds(600))
            return .ok
        } _: { server, targets in
            let task = Task { try await server.pages().all }
            for await _ in entered { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.valueInTime }
            #expect(targets().count == 2)
        }
    }

    @Test func `cancelled between two pages`() async throws {
        let isAsked = Locked(false)
        try await Loopback.servingPages(5) { server, targets in
            let paging = server.pages { _ in
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
            #expect(targets().count == 1)
            #expect(!isAsked.withLock { $0 })
        }
    }
}
