import Testing
import URLConfigTesting

@testable import URLConfig

/// Large bodies, over a real socket.
@Suite(.inTime) struct UploadTests {
    private let directory = TemporaryDirectory()
    private let content = Self.content
    private static let content = Data.sample(3_000_000)

    private func request(_ server: FaultServer) -> URLRequest { server.request("/files/1") { $0.method = .put } }

    /// Whether the server has received the content as often as this.
    private func isReceived(_ count: Int, by server: FaultServer) -> Bool {
        let requests = server.requests.filter { !$0.body.isEmpty }
        return requests.count == count
            && requests.allSatisfy { $0.body == content && $0.field("Content-Length") == "\(content.count)" }
    }

    @Test func `data and files arrive as they are, with their exact length`() async throws {
        let file = try directory.file("film.mp4", content)
        for (source, type) in [(UploadSource.file(file), "video/mp4"), (.data(content), "application/octet-stream")] {
            try await FaultServer.serving(.ok("{}")) { server in
                let response = try await server.session.upload(source, for: request(server), config: .silent)
                #expect(response.status == .ok)
                #expect(server.requests.map { $0.field("Content-Type") } == [type])
                let isReceived = isReceived(1, by: server)
                #expect(isReceived)
            }
        }
    }

    @Test func `a form with a file arrives whole, and leaves nothing behind`() async throws {
        var form = MultipartForm()
        form.append("title", "Holiday")
        form.append("film", file: try directory.file("film.mp4", content))
        let before = try Self.temporaryFiles()
        try await FaultServer.serving(.ok("{}")) { [form] server in
            try await server.session.upload(.multipart(form), for: request(server), config: .silent)
            let expected = try form.data(JSONEncoder())
            let isSame = server.requests.first?.body == expected
            #expect(isSame)
            #expect(server.requests.first?.field("Content-Length") == "\(expected.count)")
        }
        try await Self.waitForRemoval(besides: before)
    }

    private func fault(_ status: String) -> FaultServer.Fault {
        .raw("HTTP/1.1 \(status)\r\nConnection: close\r\nLocation: /files/2\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: ["503 Busy", "307 Moved", "308 Moved", "401 No"])
    func `the same body is sent again`(status: String) async throws {
        let source = UploadSource.file(try directory.file("film.mp4", content))
        try await FaultServer.serving(.first(1, fault(status), then: .ok("{}"))) { server in
            let response = try await server.session.upload(source, for: request(server), config: .silent) {
                $0.retry = RetryPolicy(attempts: 2).quick
                $0.authenticator = CountingAuthenticator()
            }
            #expect(response.status == .ok)
            #expect(response.attempts.count == 2)
            let isReceived = isReceived(2, by: server)
            #expect(isReceived)
        }
    }

    @Test func `after a redirect that makes it a GET there is no body`() async throws {
        try await FaultServer.serving(.first(1, fault("303 Look"), then: .ok("{}"))) { server in
            try await server.session.upload(.data(content), for: request(server), config: .silent)
            #expect(server.requests.map { $0.head.prefix(4) } == ["PUT ", "GET "])
            let isReceived = isReceived(1, by: server)
            #expect(isReceived)
        }
    }

    @Test func `a POST is not sent again`() async throws {
        try await FaultServer.serving(.reset) { server in
            let request = server.request { $0.method = .post }
            await #expect(throws: URLError.self) {
                try await server.session.upload(.data(content), for: request, config: .silent) {
                    $0.retry = RetryPolicy(attempts: 3).quick
                }
            }
            #expect(server.requests.count <= 1)
        }
    }

    @Test(arguments: [false, true]) func `a file that has changed is not sent again`(keepsSize: Bool) async throws {
        let file = try directory.file("film.mp4", content)
        let busy = FaultServer.Fault.reading { [content] connection in
            try (keepsSize ? Data(count: content.count) : Data("short".utf8)).write(to: file)
            // As exact as the dates of the file system are.
            if keepsSize {
                try FileManager.default.setAttributes([.modificationDate: Date() + 1], ofItemAtPath: file.path)
            }
            try connection.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
        }
        try await FaultServer.serving(.first(1, busy, then: .ok("{}"))) { server in
            let error = await expectError(.invalidRequest) {
                try await server.session.upload(.file(file), for: request(server), config: .silent) {
                    $0.retry = RetryPolicy(attempts: 3).quick
                }
            }
            #expect(error?.reason.contains("film.mp4") == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `cancelling ends it, and removes the assembled form`() async throws {
        let before = try Self.temporaryFiles()
        let form = try {
            var form = MultipartForm()
            form.append("film", file: try directory.file("film.mp4", content))
            return form
        }()
        let stalled = FaultServer.Fault { try $0.pause(.seconds(100)) }
        try await FaultServer.serving(stalled) { server in
            let task = Task { try await server.session.upload(.multipart(form), for: request(server), config: .silent) }
            try await waitUntil { server.connections > 0 }
            await task.expectCancelled()
        }
        try await Self.waitForRemoval(besides: before)
    }

    @Test func `a server that reads nothing is left after the request's timeout`() async throws {
        let (end, clock) = (DispatchSemaphore(value: 0), TestClock())
        try await FaultServer.serving(.init { _ in end.wait() }) { server in
            defer { end.signal() }
            // It is long, because Foundation's clock also runs.
            let limit = Duration.seconds(300)
            let request = server.request { ($0.method, $0.timeout) = (.put, limit) }
            let large = Data(count: 50_000_000)
            let call = Task {
                try await server.session.upload(.data(large), for: request, config: .silent) { $0.clock = clock }
            }
            try await waitUntil { server.connections > 0 }
            let mover = clock.moving()
            defer { mover.cancel() }
            let error = await expectError(.timedOut) { try await call.valueInTime }
            #expect(error?.localizedDescription.contains(limit.shown) == true)
        }
    }

    /// Waits until the temporary files are gone that exist now and did not before; other tests also make some.
    private static func waitForRemoval(besides before: Set<String>) async throws {
        let new = try temporaryFiles().subtracting(before)
        try await waitUntil { try temporaryFiles().isDisjoint(with: new) }
    }

    private static func temporaryFiles() throws -> Set<String> {
        let folder = FileManager.default.temporaryDirectory.path
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("URLConfig-") })
    }
}
