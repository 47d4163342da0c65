import Testing

@testable import URLConfig

/// Uploads before they are sent: the request, the body, and the files.
@Suite(.inTime) struct PreparedUploadTests {
    private let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
    private let directory = TemporaryDirectory()

    @Test func `a file is sent with the type of its extension, and is not removed`() async throws {
        let file = try directory.file("beach.png", Data("abc".utf8))
        let prepared = try await UploadSource.file(file).prepared(for: request)
        #expect(prepared.request.field("Content-Type") == "image/png")
        #expect(prepared.length == 3)
        for _ in 0..<2 { #expect(try prepared.body.content() == Data("abc".utf8)) }
        prepared.remove()
        #expect(try directory.names == ["beach.png"])
        let other = try await UploadSource.file(try directory.file("x.unknown")).prepared(for: request)
        #expect(other.request.field("Content-Type") == "application/octet-stream")
        #expect(try other.body.content().isEmpty)
    }

    @Test func `a content type of the request is kept, but refused for a form`() async throws {
        let request = URLRequest.with(.init(host: "https://h.example")) {
            $0.method = .put
            $0.headers[.contentType] = "text/x-own"
        }
        let file = try directory.file("beach.png")
        for source in [.data(Data()), .file(file)] as [UploadSource] {
            #expect(try await source.prepared(for: request).request.field("Content-Type") == "text/x-own")
        }
        let error = await expectError(.invalidRequest) {
            try await UploadSource.multipart(MultipartForm()).prepared(for: request, in: directory.url)
        }
        #expect(error?.reason.contains("Content-Type is 'text/x-own'") == true)
        #expect(error?.request?.url == request.url)
        #expect(try directory.names == ["beach.png"])
    }

    @Test func `a request that cannot have this body is refused before anything is written`() async throws {
        var (withData, withStream, get) = (request, request, request)
        withData.httpBody = Data("x".utf8)
        withStream.httpBodyStream = InputStream(data: Data())
        get.httpMethod = "GET"
        let broken = URLRequest.with(.init(host: "no host")) { $0.method = .put }
        let cases = [(withData, "already has one"), (withStream, "already has one"), (get, "GET cannot have one")]
        for (request, reason) in cases {
            let error = await expectError(.invalidRequest) {
                try await UploadSource.multipart(MultipartForm()).prepared(for: request, in: directory.url)
            }
            #expect(error?.reason.contains(reason) == true)
        }
        await expectError(.invalidURL) {
            try await UploadSource.multipart(MultipartForm()).prepared(for: broken, in: directory.url)
        }
        #expect(try directory.names.isEmpty)
    }

    @Test func `a file that cannot be sent is refused, and a pipe does not block`() async throws {
        let missing = directory.url.appending(component: "no.png")
        let cases = [
            (missing, "the file 'no.png' cannot be read: No such file or directory"),
            (directory.url, "'\(directory.url.lastPathComponent)' is a directory; only a regular file can be sent"),
            (try directory.pipe("pipe"), "'pipe' is not a regular file; only a regular file can be sent"),
            (URL(filePath: "/dev/zero"), "'zero' is not a regular file; only a regular file can be sent"),
        ]
        for (file, reason) in cases {
            let error = await expectError(.invalidRequest) { try await UploadSource.file(file).prepared(for: request) }
            #expect(error?.reason == "body: \(reason)")
            #expect(error?.request?.url == request.url)
            // Without `prepared`, as a transport may do.
            let atOpening = #expect(throws: RequestError.self) { try Transport.Body.file(file).opened() }
            #expect(atOpening?.reason == "body: \(reason)")
        }
    }
}

extension Transport.Body {
    /// The bytes that are sent.
    func content() throws -> Data {
        let (stream, length) = try opened()
        let data = try stream.readToEnd()
        #expect(length == Int64(data.count))
        return data
    }
}

extension InputStream {
    /// The bytes from here to the end.
    func readToEnd() throws -> Data {
        open()
        defer { close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(&buffer, maxLength: buffer.count), count != 0 {
            try #require(count > 0)
            data += buffer[..<count]
        }
        return data
    }
}
