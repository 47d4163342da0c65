import FlyingFox
import Testing

@testable import URLConfig

#if canImport(FoundationNetworking)

/// Errors of Foundation on Linux, and how the library prevents them.
///
/// Where possible, one test shows both, so that it fails when Foundation is fixed.
@Suite(.inTime) struct ShadowSessionTests {
    @Test(.urlSessionOnly) func `a session has one shadow for all its calls`() async throws {
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            for _ in 0..<3 { try await server.get() }
            let shadow = ShadowSession.of(server.session)
            #expect(shadow === ShadowSession.of(server.session))
            #expect(shadow.session.configuration.urlCache == nil)
            #expect(shadow !== ShadowSession.of(URLSession(configuration: .ephemeral)))
        }
    }

    @Test(.urlSessionOnly) func `sessions made and dropped for each call leave nothing behind`() async throws {
        try await Loopback.serving { _ in
            .json("{}")
        } _: { server in
            for index in 0..<100 {
                let session = URLSession(configuration: .ephemeral)
                let response = try await session.response(for: server.request(), config: .silent)
                #expect(response.isSuccess)
                if index.isMultiple(of: 2) { session.finishTasksAndInvalidate() }
            }
            weak var shadow: ShadowSession?
            do {
                let session = URLSession(configuration: .ephemeral)
                try await session.response(for: server.request(), config: .silent)
                shadow = ShadowSession.of(session)
            }
            // The shadow of the next session triggers its release.
            try await waitUntil {
                _ = ShadowSession.of(URLSession(configuration: .ephemeral))
                return shadow == nil
            }
        }
    }

    /// In a separate process, because the sessions of other tests would remove the shadow.
    @Test(.urlSessionOnly) func `the shadow of a released session goes although no other call follows`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            for _ in 0..<3 { _ = ShadowSession.of(URLSession(configuration: .ephemeral)) }
            #expect(ShadowSession.count > 0)
            try await waitUntil { ShadowSession.count == 0 }
        }
    }

    /// In a separate process, because these sessions wait for Foundation's queue on all threads of Swift's pool.
    @Test(.urlSessionOnly) func `a session may go on one thread while another looks for those that are gone`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            /// Its `deinit` calls the library again. While the lock is held, that would be a deadlock.
            final class Returning: NSObject, URLSessionTaskDelegate {
                deinit { _ = ShadowSession.count }
            }
            // A deadlock fails the test.
            alarm(60)
            try await concurrently(4) { _ in
                for _ in 0..<3000 {
                    _ = ShadowSession.of(
                        URLSession(configuration: .ephemeral, delegate: Returning(), delegateQueue: nil))
                }
            }
        }
    }

    @Test(arguments: [
        "Basic realm=\"r\"", "Basic", "basic realm=r", "Bearer", "Bearer realm=\"x\"", "Digest realm=\"d\"",
        "Negotiate", "", "NTLM, Basic realm=\"a\"",
    ])
    func `a 401 with a challenge is a response`(challenge: String) async throws {
        try await Loopback.serving { _ in
            .challenge(challenge, text: "who are you?")
        } _: { server in
            let response = try await server.get()
            #expect(response.status == .unauthorized)
            #expect(try response.text() == "who are you?")
        }
    }

    @Test(.urlSessionOnly) func `stock Foundation hangs on a 401 with a Basic challenge`() async throws {
        let served = Locked(0)
        try await Loopback.serving { _ in
            served.withLock { $0 += 1 }
            return .challenge()
        } _: { server in
            let task = Task { try await server.session.data(for: server.request()) }
            let ours = try await server.get()
            #expect(ours.status == .unauthorized)
            try await waitUntil { served.withLock { $0 } == 2 }
            // Nothing else ends it, not even the response.
            task.cancel()
            await expectError(.cancelled) { try await task.valueInTime }
        }
    }

    @Test func `cookies are kept in the session's storage, and an explicit field wins`() async throws {
        try await Loopback.serving { request in
            let cookie = request.headers[.init("Cookie")] ?? "none"
            return .init(
                statusCode: .ok, headers: HTTPHeaders([.init("Set-Cookie"): "a=1; Path=/"]), body: Data(cookie.utf8))
        } _: { server in
            let requests = [
                server.request(), server.request(),
                server.request { $0.headers[.cookie] = "b=2" },
                server.request { $0.modify = { $0.httpShouldHandleCookies = false } },
            ]
            var cookies: [String] = []
            for request in requests { cookies.append(try await server.response(for: request).text()) }
            #expect(cookies == ["none", "a=1", "b=2", "none"])
            let stock = try await server.session.data(for: requests[2]).0
            #expect(String(decoding: stock, as: UTF8.self) == "a=1", "Foundation has changed")
            #expect(server.session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["a"])
        }
    }

    @Test(arguments: [true, false])
    func `a stream has one framing, by its length if that is given`(hasLength: Bool) async throws {
        try await FaultServer.serving(.ok("{}")) { server in
            var request = server.request { $0.method = .post }
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            if hasLength { request.setValue("8", forHTTPHeaderField: "Content-Length") }
            let response = try await server.response(for: request)
            #expect(response.isSuccess)
            let sent = try #require(server.requests.first)
            #expect(sent.bodyText == "streamed")
            #expect(sent.field("Content-Length") == (hasLength ? "8" : nil))
            #expect(sent.field("Transfer-Encoding") == (hasLength ? nil : "chunked"))
            guard hasLength else { return }
            request.httpBodyStream = InputStream(data: Data("streamed".utf8))
            _ = try await server.session.data(for: request)
            let stock = try #require(server.requests.last)
            #expect(stock.field("Content-Length") == "8", "Foundation has changed")
            #expect(stock.field("Transfer-Encoding") == "chunked", "Foundation has changed")
        }
    }

    @Test func `half a second is half a second, and not over at once`() async throws {
        try await FaultServer.serving(.drip("{}", every: .milliseconds(2))) { server in
            let request = server.request { $0.timeout = .milliseconds(500) }
            let stock = await #expect(throws: URLError.self) { try await server.session.data(for: request) }
            #expect(stock?.code == .timedOut, "Foundation has changed")
            let response = try await server.response(for: server.request { $0.timeout = .seconds(59.5) })
            #expect(try response.text() == "{}")
        }
    }
}

#endif
