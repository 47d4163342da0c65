import Foundation
import Testing

@testable import URLConfig

/// Forms that are assembled on disk.
@Suite(.timeLimit(.minutes(10))) struct PreparedUploadMultipartTests {
    private let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
    private let sources: TemporaryDirectory
    /// The directory for the temporary file.
    private let directory: TemporaryDirectory

    init() throws {
        sources = try TemporaryDirectory()
        directory = try TemporaryDirectory()
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
        form.append("place", json: ["b": 1, "a": .null, "url": "https://h/"] as RequestBody.JSON)
        form.append(URLRequest.File(key: "data", name: "x\".bin", data: Data(repeating: 7, count: 3_000_001)))
        form.append("empty", file: try sources.file("empty.txt"))
        form.append("file", file: try sources.file("a\"b.png", Data(0...255)), contentType: "image/x-own")
        form.append("file", file: try sources.file("large", Data(repeating: 9, count: 1_000_001)))
        try await check(form)
    }

    @Test func `many files and parts are the same bytes as in memory`() async throws {
        var form = MultipartForm()
        for index in 0..<500 {
            form.append("file \(index)", file: try sources.file("\(index).txt", Data(repeating: 1, count: index)))
        }
        for index in 0..<20_000 { form.append("part", index) }
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

    @Test func `a body keeps its form when the upload is released`() async throws {
        let body = try await prepared(MultipartForm()).body
        #expect(try body.content().count > 0)
    }

    @Test func `a body whose file was removed cannot be opened`() async throws {
        let prepared = try await prepared(MultipartForm())
        prepared.remove()
        let error = #expect(throws: RequestError.self) { try prepared.body.opened() }
        #expect(error?.code == .invalidRequest)
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
}
