import Testing
import URLConfigTesting

@testable import URLConfig

/// Who receives the body of an upload, and how long it is kept.
@Suite(.inTime) struct UploadHostileTests {
    private static let redirect = FaultServer.Fault.first(
        1, .raw("HTTP/1.1 307 Moved\r\nConnection: close\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"),
        then: .ok("ok"))

    /// Uploads `secret`, and returns what has arrived: the methods and the bodies.
    private func arrived(
        _ change: @escaping @Sendable (inout URLRequest) -> Void
    ) async throws -> [String] {
        let arrived = Locked<[String]>([])
        try await FaultServer.serving(Self.redirect) { server in
            let request = server.request { $0.method = .post }
            try await server.session.upload(.data(Data("secret".utf8)), for: request, config: .silent) {
                $0.redirects = RedirectPolicy { _, next in
                    var next = next
                    change(&next)
                    return next
                }
            }
            let requests = server.requests.map { "\($0.head.prefix { $0 != " " }) \($0.bodyText)" }
            arrived.withLock { $0 = requests }
        }
        return arrived.withLock { $0 }
    }

    @Test func `a redirect policy sees that there is a body, and can keep, remove or replace it`() async throws {
        let hadBody = Locked(false)
        let removed = try await arrived { next in
            hadBody.set(\.self, next.httpBodyStream != nil)
            next.httpBodyStream = nil
        }
        #expect(removed == ["POST secret", "POST "])
        #expect(hadBody.withLock { $0 })
        // The stream shows only that there is a body. It may be another object when it comes back.
        let kept = try await arrived { $0.httpBodyStream = InputStream(data: Data()) }
        #expect(kept == ["POST secret", "POST secret"])
        #expect(try await arrived { $0.httpMethod = "PUT" } == ["POST secret", "PUT secret"])
        #expect(try await arrived { $0.httpBody = Data("other".utf8) } == ["POST secret", "POST other"])
        let get = try await arrived { ($0.httpMethod, $0.httpBodyStream) = ("GET", nil) }
        #expect(get == ["POST secret", "GET "])
    }

    @Test(arguments: [false, true]) func `the request's timeout is no limit for a transport that sends a body`(
        arrivesLater: Bool
    ) async throws {
        let (gate, clock) = (Gate(), TestClock())
        let slow = Transport { _ in
            await gate.pass()
            let ok = Data("ok".utf8)
            guard arrivesLater else { return .init(body: .init(ok)) }
            return .init(
                body: .init(
                    AsyncStream {
                        $0.yield(ok)
                        $0.finish()
                    }))
        }
        let request = URLRequest.with(.init(host: "http://h.invalid")) {
            $0.method = .put
            $0.timeout = .seconds(2)
        }
        let call = Task {
            try await URLSession.shared.upload(.data(Data("body".utf8)), for: request, config: .silent) {
                $0.transport = slow
                $0.clock = clock
            }
        }
        await gate.waitForArrivals()
        // Nothing waits for a limit.
        #expect(clock.asked.isEmpty)
        clock.move(by: .seconds(5))
        gate.open()
        #expect(try await call.valueInTime.text() == "ok")
    }

    #if os(Linux)
    @Test(arguments: ["PUT", "POST"]) func `a response that is kept does not keep the file open`(method: String)
        async throws
    {
        let directory = TemporaryDirectory()
        let file = try directory.file("film.mp4", Data(count: 100_000))
        try await FaultServer.serving(.ok("ok")) { server in
            var kept: [DataResponse] = []
            for _ in 0..<5 {
                let request = server.request { $0.method = .init(method) ?? .get }
                kept.append(try await server.session.upload(.file(file), for: request, config: .silent))
            }
            try await waitUntil { try !Self.isOpen(file) }
            #expect(kept.count == 5)
        }
    }

    private static func isOpen(_ file: URL) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            return target?.hasSuffix(file.path) == true
        }
    }

    @Test func `an upload that waits does not keep the file open`() async throws {
        let directory = TemporaryDirectory()
        let file = try directory.file("film.mp4", Data(count: 100_000))
        let gate = Gate()
        let waiting = Transport { _ in
            await gate.pass()
            return .init()
        }
        let call = Task {
            let request = URLRequest.with(.init(host: "http://h.invalid")) { $0.method = .put }
            return try await URLSession.shared.upload(.file(file), for: request, config: .silent) {
                $0.transport = waiting
            }
        }
        await gate.waitForArrivals()
        #expect(try !Self.isOpen(file))
        gate.open()
        #expect(try await call.valueInTime.isSuccess)
    }
    #endif
}
