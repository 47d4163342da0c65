import Testing

@testable import URLConfig

/// Credentials, redirects, validators and refusals in downloads.
@Suite(.inTime) struct DownloadPolicyTests {
    private static let version = FileServer.Version(1, size: 300_000)
    private let folder = DownloadFolder()

    @Test(arguments: [200, 201, 202, 204, 206, 304, 404, 500])
    func `a response that is not a file has its content in the error`(status: Int) async throws {
        let content = [204, 304].contains(status) ? "" : #"{"message": "no"}"#
        let length = content.isEmpty ? "" : "Content-Length: \(content.utf8.count)\r\n"
        let response = FaultServer.Fault.raw("HTTP/1.1 \(status) X\r\n\(length)Connection: close\r\n\r\n\(content)")
        try await FaultServer.serving(response) { server in
            guard status != 200 else {
                try await server.download(to: folder)
                #expect(folder.text(folder.file) == content)
                return
            }
            let error = await expectError(.unacceptableStatus) {
                try await server.download(to: folder) { $0.fallback = { DataResponse(request: $1) } }
            }
            #expect(error?.response?.status.code == status)
            #expect(try error?.response?.text() == content)
            if status >= 400 { #expect(error?.reason.hasSuffix("the content says “no”") == true) }
            #expect(try folder.names == [])
        }
    }

    @Test func `validators see the head, and the part is kept if they refuse it`() async throws {
        struct Refused: Error {}
        try await FileServer(Self.version, cuts: [.init(count: 200_000)]).serving { server in
            let heads = Locked<[HTTPResponse.Status]>([])
            let seeing = ResponseValidator { response in
                heads.withLock { $0.append(response.status) }
                if response.status == .partialContent { throw Refused() }
                #expect(response.data.isEmpty)
            }
            await #expect(throws: Refused.self) {
                try await server.download(to: folder, attempts: 2) { $0.validators = [.success, seeing] }
            }
            #expect(heads.withLock(\.self) == [.ok, .partialContent])
            let count = try folder.open(server.request("a.zip")).count
            #expect(count > 0 && count <= 200_000)
        }
    }

    @Test func `validators see a failure, throw the API's own error, and cannot make a file of it`() async throws {
        struct Message: Decodable, Error { let message: String }
        let failure = FaultServer.Fault.raw("HTTP/1.1 404 No\r\nContent-Length: 17\r\n\r\n{\"message\": \"no\"}")
        try await FaultServer.serving(failure) { server in
            await #expect(throws: Message.self) {
                try await server.download(to: folder) { $0.validators = [.orThrow(Message.self)] }
            }
            await #expect(throws: RequestError.self) {
                try await server.download(to: folder) { $0.validators = [ResponseValidator { $0.status = .ok }] }
            }
            let names = try folder.names
            #expect(names == [])
        }
    }

    @Test func `a token that expires during the download is renewed`() async throws {
        let authenticator = CountingAuthenticator()
        let fault = FaultServer.Fault { connection in
            let request = try connection.read()
            // The first token expires after the first response.
            if request.field("Authorization") == "2" {
                try connection.send("HTTP/1.1 401 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            } else {
                let isFirst = request.field("Range") == nil
                let cut = isFirst ? FileServer.Cut(count: 200_000) : nil
                try FileServer.send(.init(version: Self.version, cut: cut), to: request, connection)
                connection.close()
            }
        }
        try await FaultServer.serving(fault) { server in
            let response = try await server.download(to: folder, attempts: 2) { $0.authenticator = authenticator }
            #expect(folder.has(Self.version.content))
            #expect(server.hasRanges(from: nil, 200_000, 200_000))
            #expect(authenticator.refused == 1)
            #expect(response.head.attempts.map(\.status?.code) == [200, 401, 206])
            #expect(response.head.request.value(forHTTPHeaderField: "Authorization") == "3")
        }
    }

    @Test func `each request begins at the first URL, and a redirect keeps the range`() async throws {
        let tag = "\"d41d8cd98f00b204\""
        let version = Self.version.with("ETag: \(tag)\r\n", validator: tag)
        try await FileServer(version, cuts: [.init(count: 200_000)]).serving { other in
            let redirect = FaultServer.Fault.numbered { number, _, connection in
                try connection.send(
                    "HTTP/1.1 302 Found\r\nLocation: \(other.host)/f?signature=\(number)\r\nContent-Length: 0\r\n"
                        + "Connection: close\r\n\r\n")
                return false
            }
            try await FaultServer.serving(redirect) { server in
                let response = try await server.download(to: folder, attempts: 2)
                #expect(folder.has(Self.version.content))
                #expect(other.hasRanges(from: nil, 200_000))
                #expect(server.hasRanges(from: nil, 200_000))
                #expect(other.requests.last?.head.contains("signature=1") == true)
                #expect(response.head.url?.path() == "/f")
            }
        }
    }

    @Test func `a file that has moved to another URL is downloaded from the start`() async throws {
        try await FileServer(Self.version).serving { server in
            try folder.leavePart(
                Data(count: 100_000), of: URL(string: server.host + "/other"), total: 300_000,
                for: server.request("a.zip"))
            let response = try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
            #expect(response.head.attempts.count == 2)
            #expect(response.head.attempts[0].reason == "again from the start: the file has changed")
        }
    }

    @Test func `a transport of the caller can send a file`() async throws {
        let pieces = AsyncStream<Data> { continuation in
            for text in ["12", "", "3"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let request = URLRequest.with(URLRequest.Config(host: "http://h.invalid"))
        let response = try await URLSession.shared.download(for: request, to: folder.file, config: .silent) {
            $0.transport = Transport { _ in .init(body: ResponseBody(pieces)) }
        }
        #expect(response.byteCount == 3)
        #expect(folder.text(folder.file) == "123")
    }
}
