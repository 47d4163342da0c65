import Testing

@testable import URLConfig

/// The error for a broken response, over a real socket.
@Suite(.inTime) struct TransportFailureTests {
    /// The code of the error that a fault causes; `nil` if there is a response.
    private func code(_ fault: FaultServer.Fault) async throws -> (ours: URLError.Code?, stock: URLError.Code?) {
        var (ours, stock): (URLError.Code?, URLError.Code?) = (nil, nil)
        try await FaultServer.serving(fault) { server in
            let request = server.request()
            do {
                try await server.response(for: request)
            } catch let error as URLError {
                ours = error.code
                #expect(error.attempts.count == 1)
            }
            do {
                _ = try await server.session.data(for: request)
            } catch let error as URLError {
                stock = error.code
            }
        }
        return (ours, stock)
    }

    @Test(
        arguments: [
            ("truncated", .truncated, .unknown), ("truncated chunks", .truncatedChunks, .unknown),
            ("unfinished chunks", .unfinishedChunks, .unknown), ("empty reply", .empty, .badServerResponse),
            ("reset", .reset, .networkConnectionLost), ("reset in body", .resetInBody, .networkConnectionLost),
            ("truncated redirect", .raw("HTTP/1.1 302 X\r\nLocation: /y\r\nContent-Length: 9\r\n\r\n1"), .unknown),
        ] as [(String, FaultServer.Fault, URLError.Code)])
    func `a connection that ends too early is lost`(
        name: String, fault: FaultServer.Fault, onLinux: URLError.Code
    ) async throws {
        let (ours, stock) = try await code(fault)
        #expect(ours == .networkConnectionLost)
        #if canImport(FoundationNetworking)
        #expect(stock == onLinux, "Foundation has changed")
        #endif
    }

    #if canImport(FoundationNetworking)
    @Test(
        arguments: [
            ("garbage", .garbage, .unsupportedURL), ("bare line feeds", .bareLineFeeds, .unknown),
            ("huge field", .hugeField, .unknown), ("negative length", .length("-1"), .unknown),
            ("no length", .length("abc"), .unknown), ("no colon", .fieldLine("no colon"), .unknown),
        ] as [(String, FaultServer.Fault, URLError.Code)])
    func `a response that is not HTTP cannot be parsed`(name: String, fault: FaultServer.Fault, onLinux: URLError.Code)
        async throws
    {
        let (ours, stock) = try await code(fault)
        #expect(ours == .cannotParseResponse)
        #expect(stock == onLinux, "Foundation has changed")
    }
    #endif

    #if canImport(FoundationNetworking)
    @Test(
        arguments: [
            ("SSL certificate problem: self-signed certificate", .serverCertificateUntrusted),
            ("OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", .secureConnectionFailed),
            ("OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert, errno 0", .secureConnectionFailed),
            (
                "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading, errno 0",
                .networkConnectionLost
            ),
            ("OpenSSL SSL_read: Connection reset by peer, errno 104", .networkConnectionLost),
            ("OpenSSL SSL_write: Broken pipe, errno 32", .networkConnectionLost),
            ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to a.example:443", .networkConnectionLost),
            ("something else", .cannotParseResponse),
        ] as [(String, URLError.Code)])
    func `a failure of TLS is told by libcurl's words, and transient only if the connection broke off`(
        words: String, expected: URLError.Code
    ) {
        #expect((failure(words, of: stubs.request("/a")) as? URLError)?.code == expected)
    }

    @Test(arguments: ["Send failure: Broken pipe", "OpenSSL SSL_write: Connection reset by peer, errno 104"])
    func `a connection that breaks off while a body is sent may have been kept, with TLS too`(words: String) {
        for (method, isLost) in [(HTTPTypes.HTTPRequest.Method.put, true), (.post, false)] {
            let request = stubs.request("/a") { ($0.method, $0.body) = (method, .text("a")) }
            let failure = failure(words, of: request) as? URLError
            #expect(failure?.code == .networkConnectionLost)
            #expect(failure?.isLostConnection == isLost)
            #expect(failure?.brokeOff == isLost)
        }
    }

    private func failure(_ words: String, of request: URLRequest) -> any Error {
        let cause = NSError(domain: NSURLErrorDomain, code: -1, userInfo: [NSLocalizedDescriptionKey: words])
        return URLError(.unknown, userInfo: [NSUnderlyingErrorKey: cause])
            .transportFailure(of: .init(for: request), hasHead: false)
    }

    @Test func `a server that closes while the body is sent is a connection that is lost`() async throws {
        let refusing = FaultServer.Fault { connection in
            try connection.pause(.milliseconds(1))
            connection.close()
        }
        try await FaultServer.serving(refusing) { server in
            let request = server.request {
                $0.method = .post
                $0.body = .text(String(repeating: "0123456789", count: 2_000_000))
            }
            await expectError(.networkConnectionLost) { try await server.response(for: request) }
        }
    }

    @Test func `an address that cannot be reached is not a response that cannot be read`() async throws {
        await expectError(.cannotConnectToHost) { try await Stubs(host: "http://255.255.255.255").get() }
    }

    @Test func `the error of a custom protocol stays as it is`() {
        func failure(_ error: any Error) -> any Error {
            error.transportFailure(of: .init(for: stubs.request("/a")), hasHead: true)
        }
        #expect((failure(URLError(.unknown)) as? URLError)?.code == .unknown)
        #expect(failure(CancellationError()) is CancellationError)
    }
    #endif

    @Test func `a body that is not packed as it says cannot be decoded`() async throws {
        #expect(try await code(.falseGzip).ours == .cannotDecodeContentData)
    }

    @Test(arguments: FaultServer.Fault.oddStatusLines)
    func `an odd status is a response or a failure, and does not trap`(line: String) async throws {
        let code = try await code(.statusLine(line)).ours
        #expect(code == nil || code == .cannotParseResponse)
    }

    @Test(arguments: FaultServer.Fault.oddFieldLines)
    func `an odd field is part of a response or a failure, and does not trap`(line: String) async throws {
        let code = try await code(.fieldLine(line)).ours
        #expect(code == nil || code == .cannotParseResponse)
    }

    @Test(arguments: ["100 Continue", "103 Early Hints"])
    func `a flood of interim responses comes before the final one`(status: String) async throws {
        #expect(try await code(.interim(status)).ours == nil)
    }

    @Test(.urlSessionOnly) func `ten thousand fields arrive`() async throws {
        try await FaultServer.serving(.manyFields) { server in
            let response = try await server.get()
            #expect(response.headerFields.count > 10_000)
        }
    }

    @Test func `a connection that was closed in between is replaced`() async throws {
        try await FaultServer.serving(.closingAfterAnswer("{}")) { server in
            for _ in 0..<20 {
                let response = try await server.get()
                #expect(response.isSuccess)
            }
        }
    }

    @Test(arguments: FaultServer.Fault.hostileLocations.dropFirst())
    func `a redirect to nowhere is refused, or fails`(location: String) async throws {
        try await FaultServer.serving(.redirect(to: location)) { server in
            do {
                let response = try await server.response(for: server.request { $0.timeout = .seconds(20) })
                #expect(response.status == .found, "no Location that counts")
            } catch let error as RequestError {
                #expect(error.code == .refusedRedirect)
                #expect(error.response?.status == .found)
            } catch is URLError {}
        }
    }
}
