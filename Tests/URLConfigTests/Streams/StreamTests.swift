import Testing

@testable import URLConfig

/// Responses whose body is read as it arrives.
@Suite(.inTime) struct StreamTests {
    @Test func `the head is there before the body`() async throws {
        let goOn = DispatchSemaphore(value: 0)
        let fault = FaultServer.Fault.reading { connection in
            try connection.send(FaultServer.Fault.head(length: 4, "X-A: b\r\n") + "12")
            goOn.wait()
            try connection.send("34")
        }
        try await FaultServer.serving(fault) { server in
            let response = try await server.stream()
            #expect(response.head.status == .ok)
            #expect(response.head.headerFields.contains { $0.name.rawName == "X-A" && $0.value == "b" })
            #expect(response.head.attempts.count == 1)
            goOn.signal()
            #expect(try await response.collect(upTo: 4).text() == "1234")
        }
    }

    @Test func `every byte arrives once and in order, however slowly they are read`() async throws {
        let body = EndlessBody(length: 61_000_000)
        try await FaultServer.serving(body.fault) { server in
            var data = Data()
            for try await piece in try await server.stream().chunks {
                // By then, the buffers of the system and the memory of the library are full.
                if data.isEmpty { try await Task.sleep(for: .milliseconds(200)) }
                data += piece
                if data.count > 60_000_000 { break }
            }
            // A failed comparison of two large values would be explained for minutes.
            let isSame = data == Data.sample(data.count)
            #expect(isSame)
            try await waitUntil { body.isOver }
        }
    }

    @Test func `leaving the loop ends the transfer, although the response is kept`() async throws {
        let body = EndlessBody()
        try await FaultServer.serving(body.fault) { server in
            let response = try await server.stream()
            for try await _ in response.chunks { break }
            try await waitUntil { body.isOver }
            let error = await expectError(.invalidResponse) { for try await _ in response.chunks {} }
            #expect(error?.response?.status == .ok && error?.attempts.count == 1)
        }
    }

    @Test func `releasing an unread response ends the transfer`() async throws {
        let body = EndlessBody()
        try await FaultServer.serving(body.fault) { server in
            _ = try await server.stream()
            try await waitUntil { body.isOver }
        }
    }

    @Test func `cancelling the task ends the transfer and the loop`() async throws {
        try await FaultServer.serving(.hangInBody) { server in
            let hasBegun = Locked(false)
            let task = Task {
                for try await _ in try await server.stream().chunks { hasBegun.set(\.self, true) }
            }
            try await waitUntil { hasBegun.withLock { $0 } }
            await task.expectCancelled()
        }
    }

    @Test(arguments: [
        (FaultServer.Fault.truncated, URLError.Code.networkConnectionLost), (.resetInBody, .networkConnectionLost),
        (.truncatedChunks, .networkConnectionLost),
    ])
    func `a body that breaks off is an error after the bytes that arrived`(
        fault: FaultServer.Fault, code: URLError.Code
    ) async throws {
        try await FaultServer.serving(fault) { server in
            var data = Data()
            let error = await #expect(throws: URLError.self) {
                let response = try await server.stream { $0.retry = RetryPolicy(attempts: 3).quick }
                for try await piece in response.chunks { data += piece }
            }
            #expect(error?.code == code)
            #expect(error?.attempts.count == 1)
            #expect(data.starts(with: Data("0123456789".utf8)))
            #expect(server.requests.count == 1)
        }
    }

}

extension TestServer {
    /// Sends GET with the server's session, and returns when the head has arrived.
    func stream(
        _ path: URLRequest.Path? = nil, isolation: isolated (any Actor)? = #isolation,
        _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> StreamResponse {
        try await session.stream(for: request(path), config: .silent, configure)
    }
}
