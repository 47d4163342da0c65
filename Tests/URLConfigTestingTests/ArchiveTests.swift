import Testing
import URLConfig

@testable import URLConfigTesting

struct ArchiveTests {
    /// An entry with the members that a browser writes.
    private func har(
        _ url: String = "https://api.example.com/v2/users/1", request: String = "", headers: String = "",
        content: String = #""text": "Ada""#, status: Int = 200
    ) -> String {
        """
        {"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [{
        "_initiator": {"type": "other"}, "startedDateTime": "2024-01-02T03:04:05.678901+01:00", "time": 12.75,
        "request": {"method": "GET", "url": "\(url)", "httpVersion": "h2", "cookies": [],
            "headers": [{"name": ":authority", "value": "api.example.com"}], "queryString": [] \(request)},
        "response": {"status": \(status), "statusText": "", "httpVersion": "h2", "cookies": [],
            "headers": [{"name": ":status", "value": "200"}, {"name": "content-encoding", "value": "br"},
                {"name": "content-length", "value": "1"} \(headers)],
            "content": {"size": 3, "mimeType": "text/plain", "compression": -4, \(content)}, "redirectURL": ""},
        "cache": {}, "timings": {"blocked": 0.41, "send": 0.1, "wait": 3.5, "receive": 1.25}}]}}
        """
    }

    @Test(arguments: ["", "\u{FEFF}"]) func `a file of a browser is played`(_ start: String) async throws {
        let cookies =
            #", {"name": "Set-Cookie", "value": "a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT\nb=2"}"#
            + #", {"name": "set-cookie", "value": "c=3, d=4; Path=/"}"#
        let folder = try ReplayFolder(start + har(headers: cookies, content: #""text": "QWRh", "encoding": "base64""#))
        try await folder.run {
            let response = try await send("/users/1")
            #expect(try response.text() == "Ada")
            #expect(response.cookies.map(\.name) == ["a", "b", "c", "d"])
            #expect(response.headerFields[.contentEncoding] == nil)
        }
    }

    @Test(arguments: ["iso-8859-1", "shift_jis", "utf-8"])
    func `the text of a browser's file has the bytes of its character set`(_ charset: String) async throws {
        let text = charset == "shift_jis" ? "日本" : "café"
        let type = #", {"name": "content-type", "value": "text/plain; charset=\#(charset)"}"#
        let folder = try ReplayFolder(har(headers: type, content: #""text": "\#(text)""#))
        try await folder.run {
            let response = try await send("/users/1")
            #expect(try response.text() == text)
            #expect(response.data.count == (charset == "utf-8" ? 5 : 4))
        }
    }

    @Test(arguments: [
        ("https://API.example.com:443/v2/users?b=2&a=1#top", "", "/users?a=1&b=2", nil),
        ("https://api.example.com/v2/users?token=s3cret-in-a-browser", "", "/users?token=other", nil),
        ("https://api.example.com/v2/f", #"{"text": "b=2&a=1"}"#, "/f", "b=2&a=1"),
        ("https://api.example.com/v2/f", #"{"params": [{"name": "a", "value": "1"}]}"#, "/f", "a=1"),
        (
            "https://api.example.com/v2/f", #"{"params": [{"name": "a b", "value": "1+1 ~é"}]}"#, "/f",
            "a+b=1%2B1+%7E%c3%a9"
        ),
        (
            "https://api.example.com/v2/j", #"{"text": "{\"a\": 1, \"b\": 2}", "mimeType": "application/json"}"#, "/j",
            #"{"b":2,"a":1}"#
        ),
    ])
    func `a request matches without secrets, and in any order`(
        _ url: String, _ post: String, _ path: String, _ body: String?
    ) async throws {
        let folder = try ReplayFolder(
            har(url, request: post.isEmpty ? "" : #", "postData": \#(post)"#)
                .replacing("\"GET\"", with: body == nil ? "\"GET\"" : "\"POST\""))
        try await folder.run {
            try await send(
                path,
                request: {
                    guard let body else { return }
                    let type: MediaType = post.contains("json") ? .json : "application/x-www-form-urlencoded"
                    ($0.method, $0.body) = (.post, .data(Data(body.utf8), contentType: type))
                })
        }
    }

    @Test(arguments: [
        ("", "is not JSON, or it was cut"), ("HAR", "is not JSON, or it was cut"), ("[1]", "has no log.entries"),
        ("{}", "has no log.entries"), (#"{"log": {"entries": []}}"#, "has no log.entries"),
        (#"{"log": {"entries": [{"request": {}}]}}"#, "api.har, entry 1: request.method or request.url is"),
        (#"{"log": {"entries": [3]}}"#, "has no log.entries"),
    ])
    func `a file that is no HAR is an error with the line of the test`(_ text: String, _ reason: String) async throws {
        for mode in [HTTPStubs.ReplayMode.replay, .recordMissing] {
            let folder = try ReplayFolder(text)
            let error = await #expect(throws: RequestError.self) { try await folder.run(mode, line: 7) {} }
            #expect(error?.code == .invalidStubs)
            #expect(error?.reason.contains("RecordingTests.swift:7: replay of api: ") == true)
            #expect(error?.reason.contains(reason) == true)
            #expect(folder.text == text)
        }
    }

    @Test func `a file that was cut, is too large, or has no body, is an error`() async throws {
        let whole = har()
        for count in stride(from: 0, to: whole.utf8.count - 1, by: 97) {
            let folder = try ReplayFolder(String(whole.utf8.prefix(count))!)
            await #expect(throws: RequestError.self) { try await folder.run {} }
        }
        for (text, reason) in [
            (har(content: #""text": "!!!!", "encoding": "base64""#), "entry 1: its body is not base64"),
            (har(content: #""_file": "../../secret""#), "the file of its body, '../../secret', cannot be read"),
        ] {
            let folder = try ReplayFolder(text)
            let error = await #expect(throws: RequestError.self) { try await folder.run {} }
            #expect(error?.reason.contains(reason) == true)
        }
        let folder = try ReplayFolder(whole)
        try FileHandle(forWritingTo: folder.har).truncate(atOffset: 100 << 20)
        let error = await #expect(throws: RequestError.self) { try await folder.run {} }
        #expect(error?.reason.contains("has 100 MB; at most 64 MB are read") == true)
    }

    @Test(arguments: ["", #", "response": null"#, #", "response": {"status": null}"#, #", "response": {"status": 0}"#])
    func `a request without a response is left out`(_ response: String) async throws {
        let cancelled = #"{"request": {"method": "GET", "url": "https://api.example.com/v2/n"}\#(response)}, {"#
        let folder = try ReplayFolder(har().replacing(#""entries": [{"#, with: #""entries": [\#(cancelled)"#))
        let (text, _) = try await issue {
            try await folder.run {
                try await send("/users/1")
                _ = await #expect(throws: RequestError.self) { try await send("/n") }
            }
        }
        #expect(text.contains("has no exchange"))
    }

    @Test(arguments: [("GET", 200, false), ("HEAD", 200, true), ("GET", 304, true)])
    func `a body that the file does not have is an issue when it is played`(
        _ method: String, _ status: Int, _ isPlayed: Bool
    ) async throws {
        let text = har(content: #""comment": """#, status: status).replacing("\"GET\"", with: "\"\(method)\"")
        let folder = try ReplayFolder(text)
        func play() async throws { try await send("/users/1", request: { $0.method = .init(method) ?? .get }) }
        guard !isPlayed else { return try await folder.run { try await play() } }
        let found = try await issue {
            try await folder.run { _ = await #expect(throws: RequestError.self) { try await play() } }
        }
        #expect(found.text.contains("replay of api cannot respond: the file does not have the body"))
    }

    @Test(arguments: ["", "a/b", "../api", ".", ".hidden", "a\\b"])
    func `a name that is no file is an error`(_ name: String) async throws {
        let error = await #expect(throws: RequestError.self) {
            try await HTTPStubs.with({ $0.replay(name, line: 3) }, operation: {})
        }
        #expect(error?.reason.contains("ArchiveTests.swift:3: replay of \(name): '\(name)' is not the name") == true)
    }

    @Test(arguments: [
        ("a\nb\n", ["a\n", "b\n"], [2, 2]), ("***\nb\n", ["se", "cret\nb", "\n"], [0, 4, 2]),
        ("***", ["se\n", "cret\n"], [0, 0]), ("", ["a"], [0]),
    ])
    func `pieces keep their lines where secrets are hidden`(_ shown: String, _ pieces: [String], _ sizes: [Int]) {
        #expect(Data(shown.utf8).sizes(of: pieces.map { Data($0.utf8) }) == sizes)
    }

    @Test func `a missing file is an error that says how to record it`() async throws {
        let error = await #expect(throws: RequestError.self) { try await ReplayFolder().run {} }
        #expect(error?.reason.contains("URLCONFIG_REPLAY=recordMissing records it") == true)
    }

    @Test(.replay("users")) func `a trait plays a file beside the test`() async throws {
        let user = try await UserRepository().user(3)
        #expect(user == URLConfigTestingTests.user)
    }
}
