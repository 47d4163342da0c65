import Testing

@testable import URLConfig

/// Forms that are assembled on disk, and those that cannot be: no temporary file may remain.
@Suite(.inTime) struct PreparedUploadMultipartTests {
    private let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
    private let sources: TemporaryDirectory
    /// The directory for the temporary file.
    private let directory: TemporaryDirectory

    init() throws {
        sources = TemporaryDirectory()
        directory = TemporaryDirectory()
    }

    private func prepared(_ form: MultipartForm, encoder: JSONEncoder? = nil) async throws -> PreparedUpload {
        let encoder = encoder ?? URLRequest.Config.defaultEncoder
        return try await UploadSource.multipart(form).prepared(for: request, encoder: encoder, in: directory.url)
    }

    private func check(_ form: MultipartForm) async throws {
        let prepared = try await prepared(form)
        let expected = try form.data(URLRequest.Config.defaultEncoder)
        // Not `==` within the expectation, which would show megabytes.
        let isEqual = try prepared.body.content() == expected
        #expect(isEqual)
        #expect(prepared.length == Int64(expected.count))
        #expect(prepared.request.field("Content-Type") == "multipart/form-data; boundary=\(form.boundary)")
        prepared.remove()
        #expect(try directory.names.isEmpty)
    }

    @Test func `a form on disk is the same bytes as in memory`() async throws {
        var form = MultipartForm()
        try await check(form)
        form.append("title", "Holi\u{E9}\r\nday")
        form.append("quote\"\r\n", ["a", "b"])
        form.append("place", json: ["b": "1", "url": "https://h/"])
        form.append("data", data: Data(repeating: 7, count: 3_000_001), filename: "x\".bin")
        form.append("empty", file: try sources.file("empty.txt"))
        form.append("file", file: try sources.file("a\"b.png", Data(0...255)), contentType: "image/x-own")
        form.append("file", file: try sources.file("large", Data(repeating: 9, count: 1_000_001)))
        try await check(form)
    }

    @Test func `the encoder of the call encodes JSON parts`() async throws {
        var form = MultipartForm()
        form.append("place", json: ["visitedAt": Date(timeIntervalSince1970: 0)])
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let prepared = try await prepared(form, encoder: encoder)
        #expect(String(decoding: try prepared.body.content(), as: UTF8.self).contains("1970-01-01T00:00:00Z"))
        prepared.remove()
    }

    @Test func `a body whose file was removed cannot be opened`() async throws {
        let prepared = try await prepared(MultipartForm())
        prepared.remove()
        expectThrown(.invalidRequest) { try prepared.body.opened() }
        prepared.remove()
    }

    #if os(Linux)
    @Test func `the file has no name, so that nothing remains if the process is killed`() async throws {
        var form = MultipartForm()
        form.append("title", "Holiday")
        let prepared = try await prepared(form)
        #expect(try directory.names.isEmpty)
        let expected = try form.data(URLRequest.Config.defaultEncoder)
        for _ in 0..<2 { #expect(try prepared.body.content() == expected) }
        // A stream that a transport still has reads the form, and not what gets its descriptor.
        let (stream, _) = try prepared.body.opened()
        prepared.remove()
        let others = try (0..<100).map { try FileHandle(forReadingFrom: sources.file("\($0)", Data("other".utf8))) }
        #expect(try stream.readToEnd() == expected)
        #expect(others.count == 100)
    }
    #endif

    /// Calls a function when it is encoded.
    private struct Encoding: Encodable, Sendable {
        let work: @Sendable () throws -> Void

        func encode(to encoder: any Encoder) throws {
            try work()
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }

    @Test func `a file that cannot be read is refused; the error names the part and the file`() async throws {
        var form = MultipartForm()
        form.append("fine", file: try sources.file("fine"))
        form.append("photo", file: sources.url.appending(component: "beach.png"))
        let error = await expectError(.invalidRequest) { try await prepared(form) }
        #expect(
            error?.reason == "body: part 'photo': the file 'beach.png' cannot be read: No such file or directory")
        #expect((error?.underlyingError as? POSIXError)?.code == .ENOENT)
        try await waitUntil { try directory.names.isEmpty }
    }

    @Test func `a value that cannot be encoded is refused; the error names its part`() async throws {
        struct Broken: Error {}
        var form = MultipartForm()
        form.append("place", json: Encoding { throw Broken() })
        let error = await expectError(.invalidRequest) { try await prepared(form) }
        #expect(error?.reason.hasPrefix("body: part 'place': ") == true)
        #expect(error?.underlyingError is Broken)
        try await waitUntil { try directory.names.isEmpty }
    }

    @Test func `cancelling returns at once, stops the work, and removes the file`() async throws {
        let (begun, ended) = (Gate(), DispatchSemaphore(value: 0))
        let encodings = Locked(0)
        var form = MultipartForm()
        form.append(
            "first",
            json: Encoding {
                Task { await begun.pass() }
                ended.wait()
            })
        form.append("second", json: Encoding { encodings.withLock { $0 += 1 } })
        let task = Task { try await prepared(form) }
        await begun.waitForArrivals()
        task.cancel()
        // The work is still blocked.
        await #expect(throws: CancellationError.self) { try await task.valueInTime }
        ended.signal()
        try await waitUntil { try directory.names.isEmpty }
        #expect(encodings.withLock { $0 } == 0)
        begun.open()
    }

    #if os(Linux)
    /// In a separate process, whose files must not become longer, as on a full disk.
    @Test func `a full disk is a URLError with the system's reason`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let directory = TemporaryDirectory()
            let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
            var form = MultipartForm()
            form.append("film", file: try directory.sparseFile("film.mp4", size: 1_000_000))
            let source = UploadSource.multipart(form)
            try await ChildProcess.limitingFiles(to: 500_000) {
                let error = await expectError(.cannotWriteToFile) {
                    try await source.prepared(for: request, in: directory.url)
                }
                #expect(error?.localizedDescription == "a temporary file cannot be written: File too large")
                #expect((error?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EFBIG)
            }
        }
    }

    /// In a separate process, so that only this upload counts for its peak memory.
    // The thread sanitizer needs several more bytes for each byte.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil))
    func `a large file needs no memory`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let directory = TemporaryDirectory()
            let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
            func prepared(_ form: MultipartForm) async throws -> PreparedUpload {
                try await UploadSource.multipart(form).prepared(for: request, in: directory.url)
            }
            // What a process needs once.
            try await prepared(MultipartForm()).remove()
            var form = MultipartForm()
            form.append("film", file: try directory.sparseFile("film.mp4", size: 256 << 20))
            let before = try Memory.peak()
            let upload = try await prepared(form)
            #expect(upload.length ?? 0 > 256 << 20)
            #expect(try Memory.peak() - before < 16 << 20)
        }
    }
    #endif
}
