import Testing
import URLConfig

@testable import URLConfigTesting

struct ReplayTests {
    /// A server that sends what it receives: the body, or the URL if there is none.
    private let echo = server { request in
        let url = Data((request.urlRequest.url?.absoluteString ?? "").utf8)
        return .init(headerFields: [.contentType: "text/csv"], body: .init(try await request.body?.data() ?? url))
    }

    @Test(arguments: [
        ["/q?a=1%26b%3D2", "/q?a=1&b=2"], ["/a%2Fb", "/a/b"], ["/q?ids=2&ids=1", "/q?ids=1&ids=2"], ["/q?a", "/q?a="],
        ["/q?a=b+c", "/q?a=b%2Bc"],
    ])
    func `URLs that differ have their own responses`(_ paths: [String]) async throws {
        let folder = try ReplayFolder()
        try await folder.run(.recordAll) { for path in paths { try await send(path, echo) } }
        try await folder.run {
            for path in paths.reversed() {
                let text = try await send(path).text()
                #expect(text == "https://api.example.com/v2" + path)
            }
        }
    }

    @Test(arguments: [("/q?b=2&a=1", "/q?a=1&b=2"), ("/%7ea%c3%a4?q=%27a%27", "/~a%C3%A4?q='a'")])
    func `URLs that differ in spelling have one response`(_ recorded: String, _ sent: String) async throws {
        let folder = try ReplayFolder()
        try await folder.run(.recordAll) { try await send(recorded, echo) }
        try await folder.run { try await send(sent) }
    }

    @Test(arguments: [
        ("/s/***", "/s/abc", true), ("/s/***/***?of=***", "/s/a/b?of=c", true), ("/s/a***c", "/s/abc", true),
        ("/s/***", "/s/a/b", false), ("/s/***", "/s/a?b=1", false), ("/q?a=***", "/q?a=1&b=2", false),
        ("/s/a***b", "/s/ac", false), ("/s/ab***b", "/s/ab", false), ("/s/abc", "/s/***", false),
        ("/s/***", "/s/", false), ("/q?a=***", "/q?a=", false), ("/q?a=***&b=***", "/q?a=&b=1", false),
    ])
    func `a secret of a recording is one segment or one value of a URL`(
        _ recorded: String, _ sent: String, _ isPlayed: Bool
    ) async throws {
        let request = #"{"method": "GET", "url": "https://api.example.com/v2\#(recorded)"}"#
        let folder = try ReplayFolder(
            #"{"log": {"entries": [{"request": \#(request), "response": {"status": 200}}]}}"#)
        let (text, _) = try await issue {
            try await folder.run {
                if isPlayed { try await send(sent) }
                _ = await #expect(throws: RequestError.self) { try await send(sent) }
                if !isPlayed { try await send(recorded) }
            }
        }
        #expect(text.contains("has no exchange with this method, URL and body"))
    }

    @Test(
        arguments: [
            (.png, Data([0xFF, 1]), Data([0xFF, 2])), ("text/plain", Data([0x61, 0xE9]), Data([0x61, 0xE8])),
            (.json, Data([0x22, 0xE9, 0x22]), Data("1".utf8)),
        ] as [(MediaType, Data, Data)],
        [.standard, .none] as [Redaction])
    func `an upload of files has its own response`(_ files: (MediaType, Data, Data), _ redaction: Redaction)
        async throws
    {
        let folder = try ReplayFolder()
        func upload(_ data: Data, _ configure: (inout URLSession.Config) -> Void = { _ in }) async throws -> Data {
            var form = MultipartForm()
            form.append("file", data: data, filename: "a", contentType: files.0)
            let response = try await send(
                "/upload", request: { ($0.method, $0.body) = (.post, .multipart(form)) },
                {
                    $0.redaction = redaction
                    configure(&$0)
                })
            return response.data
        }
        try await folder.run(.recordAll) { for data in [files.1, files.2] { _ = try await upload(data, echo) } }
        try await folder.run {
            for data in [files.2, files.1] {
                let body = try await upload(data)
                #expect(body.firstRange(of: data) != nil)
            }
        }
    }

    @Test(arguments: ["\u{FEFF}a,b\n", "\u{FEFF}", "a\u{FEFF}\0b", "e\u{301}\u{FFFF}", "\r\n"])
    func `text is played as the same bytes`(_ text: String) async throws {
        let folder = try ReplayFolder()
        let server = server { _ in .init(headerFields: [.contentType: "text/csv"], body: .init(Data(text.utf8))) }
        try await folder.run(.recordAll) { try await send("/n", server) }
        try await folder.run {
            let data = try await send("/n").data
            #expect(data == Data(text.utf8))
        }
    }

    @Test func `a large body does not replace the one of another entry`() async throws {
        let folder = try ReplayFolder()
        let large = server { request in
            let byte = request.urlRequest.url?.lastPathComponent.utf8.first ?? 0
            let body = Data(repeating: byte, count: 1 << 20) + [0]
            return .init(headerFields: [.contentType: "image/png"], body: .init(body))
        }
        try await folder.run(.recordAll) { for path in ["/a", "/b", "/c"] { try await send(path, large) } }
        var root = try #require(JSONSerialization.jsonObject(with: Data(folder.text.utf8)) as? [String: Any])
        var log = try #require(root["log"] as? [String: Any])
        log["entries"] = (log["entries"] as? [Any])?.dropFirst().map { $0 }
        root["log"] = log
        try JSONSerialization.data(withJSONObject: root).write(to: folder.har)
        try await folder.run(.recordMissing) { for path in ["/d", "/e"] { try await send(path, large) } }
        try await folder.run {
            for (path, byte) in ["/b": "b", "/c": "c", "/d": "d", "/e": "e"] {
                let data = try await send(path).data
                #expect(data.first == byte.utf8.first)
            }
        }
    }

    @Test func `a new recording leaves no bodies of the old one, and no file that it has not written`() async throws {
        let folder = try ReplayFolder()
        let server = server { .init(body: .init(Data(count: $0.urlRequest.url?.path() == "/v2/small" ? 1 : 2 << 20))) }
        try await folder.run(.recordMissing) { for path in ["/a", "/b", "/c"] { try await send(path, server) } }
        let replays = folder.har.deletingLastPathComponent()
        let (first, mine) = ("api-1-response", "mine")
        try FileManager.default.moveItem(at: replays.appending(path: first), to: replays.appending(path: mine))
        try Data(folder.text.replacing(first, with: mine).utf8).write(to: folder.har)
        try await folder.run(.recordAll) { for path in ["/a", "/small"] { try await send(path, server) } }
        let names = try FileManager.default.contentsOfDirectory(atPath: replays.path).sorted()
        #expect(names == [first, "api.har", mine])
    }

    @Test func `a stream that its reader has left breaks off where it was left`() async throws {
        let folder = try ReplayFolder()
        let lines = server { _ in
            let pieces = AsyncStream<Data> { pieces in
                for number in 0..<5 { pieces.yield(Data("\(number)\n".utf8)) }
                pieces.finish()
            }
            return .init(headerFields: [.contentType: "text/plain"], body: .init(pieces))
        }
        func read(_ count: Int, _ configure: (inout URLSession.Config) -> Void = { _ in }) async throws -> [String] {
            let stream = try await URLSession.shared.stream(for: .with(.api)) {
                $0.logger = nil
                configure(&$0)
            }
            var read: [String] = []
            for try await line in stream.lines {
                read.append(line)
                if read.count == count { break }
            }
            return read
        }
        try await folder.run(.recordAll) { _ = try await read(2, lines) }
        try await folder.run {
            let read = try await read(2)
            #expect(read == ["0", "1"])
        }
        try await folder.run { await #expect(throws: URLError.self) { try await read(9) } }
        let other = try ReplayFolder()
        try await other.run(.recordAll) { _ = try await read(9, lines) }
        try await other.run {
            let read = try await read(9)
            #expect(read == ["0", "1", "2", "3", "4"])
        }
    }

    private static let (day, hourLater) = ("Thu, 02 Jan 2020 03:04:05 GMT", "Thu, 02 Jan 2020 04:04:05 GMT")

    @Test(
        arguments: [
            ([.date: day, .expires: hourLater], "max-age=3600", nil),
            ([.date: day, .expires: hourLater, .cacheControl: "public"], "public, max-age=3600", nil),
            ([.date: hourLater, .expires: day], "max-age=0", nil), ([.expires: hourLater], "max-age=0", nil),
            ([.date: day, .expires: hourLater, .cacheControl: "Max-Age=60"], "Max-Age=60", hourLater),
            ([.date: day, .expires: hourLater, .cacheControl: "s-maxage=60"], "s-maxage=60, max-age=3600", nil),
            ([.date: day, .expires: "0"], nil, "0"), ([.date: day], nil, nil),
        ] as [(HTTPFields, String?, String?)])
    func `a response is fresh for as long as it was when it was recorded`(
        _ fields: HTTPFields, _ control: String?, _ expires: String?
    ) async throws {
        let folder = try ReplayFolder()
        let server = server { _ in .init(headerFields: fields) }
        try await folder.run(.recordAll) { try await send("/n", server) }
        try await folder.run {
            let played = try await send("/n").headerFields
            #expect(played[.cacheControl] == control)
            #expect(played[.expires] == expires)
        }
    }

    @Test func `without a date, the lifetime begins when the response comes`() throws {
        var fields = HTTPFields()
        fields[date: .expires] = Date() + 1_000_000
        let control = try #require(fields.withLifetime[.cacheControl])
        let seconds = try #require(Int(control.dropFirst("max-age=".count)))
        #expect(1...1_000_000 ~= seconds)
    }

    @Test func `the length that a response to HEAD names is played`() async throws {
        let folder = try ReplayFolder()
        let server = server { _ in .init(headerFields: [.contentLength: "123456", .contentType: "video/mp4"]) }
        try await folder.run(.recordAll) { try await send("/film", request: { $0.method = .head }, server) }
        try await folder.run {
            let response = try await send("/film", request: { $0.method = .head })
            #expect(response.headerFields[.contentLength] == "123456")
        }
    }
}
