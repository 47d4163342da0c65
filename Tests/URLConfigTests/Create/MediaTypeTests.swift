import Testing

@testable import URLConfig

/// Media types: RFC 9110 §8.3.1, and malformed ones that servers send.
@Suite struct MediaTypeTests {
    @Test(
        arguments: [
            ("text/html", "text/html", [:]), ("TEXT/Html", "text/html", [:]), (" text/html ", "text/html", [:]),
            ("text/html;charset=utf-8", "text/html", ["charset": "utf-8"]),
            ("Text/HTML; Charset=\"utf-8\"", "text/html", ["charset": "utf-8"]),
            ("text/html ; charset=UTF-8 ; q=1", "text/html", ["charset": "UTF-8", "q": "1"]),
            ("multipart/form-data; boundary=\"a;b=c\"; x=y", "multipart/form-data", ["boundary": "a;b=c", "x": "y"]),
            ("a/b; p=\"x\\\"y\\\\z\"", "a/b", ["p": "x\"y\\z"]), ("a/b; p=\"\"", "a/b", ["p": ""]),
            ("a/b; p=1; P=2", "a/b", ["p": "1"]), ("a/b;;;p=1;", "a/b", ["p": "1"]), ("a/b;", "a/b", [:]),
            ("a/b; p; =1; q = 2; r=3", "a/b", ["r": "3"]), ("a/b; p=\"open", "a/b", ["p": "open"]),
            ("application/vnd.api+json", "application/vnd.api+json", [:]), ("*/*", "*/*", [:]),
            ("a!#$&^_.+-/b'*|~`%", "a!#$&^_.+-/b'*|~`%", [:]),
        ] as [(String, String, [String: String])])
    func `a media type is read`(text: String, essence: String, parameters: [String: String]) {
        let type = MediaType(text)
        #expect(type?.essence == essence)
        #expect(type?.parameters == parameters)
        #expect(type?.description == text)
    }

    @Test(arguments: [
        "", " ", "text", "text/", "/html", "text//html", "text/html, text/plain", "text /html", "text/ html",
        "text html", "te\u{E9}t/html", "text/html\r\nX: 1", "text/html; p=\u{0}", "a/b c", "(a)/b", "a/b\u{7F}",
    ])
    func `an invalid text is no media type, and as a literal it is the type of bytes`(text: String) {
        #expect(MediaType(text) == nil)
        #expect(MediaType(stringLiteral: text) == .octetStream)
    }

    /// Swift reads `MediaType("…")` as `"…" as MediaType`
    /// (https://github.com/swiftlang/swift-evolution/blob/main/proposals/0213-literal-init-via-coercion.md).
    @Test func `a literal may be used for any media type`() {
        #expect(MediaType.init("bogus") == nil && MediaType("bogus") as MediaType? == .octetStream)
        let file = URLRequest.File(key: "a", name: "b", data: Data(), mimeType: "image/png")
        #expect(file.mimeType == .png)
        let request = URLRequest.with(.init(host: "https://h.example")) {
            ($0.method, $0.body) = (.post, .data(Data(), contentType: "application/x-plist"))
        }
        #expect(request.field("Content-Type") == "application/x-plist")
        #expect(DataResponse(request: request, headerFields: [.contentType: "image/png"]).hasContentType("image/*"))
    }

    @Test(arguments: [
        ("text/html", "text/html", true), ("text/html", "TEXT/HTML; charset=utf-8", true),
        ("text/html; charset=utf-8", "text/html", false),
        ("text/html; charset=utf-8", "text/html; charset=UTF-8", true),
        ("text/html; charset=utf-8", "text/html; q=1; charset=\"utf-8\"", true),
        ("text/html; charset=utf-8", "text/html; charset=utf-16", false), ("text/*", "text/csv", true),
        ("text/*", "image/png", false), ("*/*", "a/b; c=d", true), ("*/*; c=d", "a/b", false),
        ("text/csv", "text/*", false), ("application/json", "application/problem+json", false),
        ("text/html", "text/htm", false),
    ])
    func `a media type matches those that it includes`(kind: String, other: String, expected: Bool) throws {
        let (kind, other) = (try #require(MediaType(kind)), try #require(MediaType(other)))
        #expect(kind.matches(other) == expected)
    }

    @Test(
        arguments: [
            (.json, ["application/json", "APPLICATION/json"]), (.form, ["application/x-www-form-urlencoded"]),
            (.octetStream, ["application/octet-stream"]), (.png, ["image/png"]), (.jpeg, ["image/jpeg"]),
            (.text, ["text/plain; charset=utf-8", "Text/Plain;Charset=\"utf-8\"", "text/plain;charset=utf-8"]),
            (.html, ["text/html", "TEXT/html", "text/html "]),
        ] as [(MediaType, [String])])
    func `the named media types equal all equivalent texts`(type: MediaType, texts: [String]) {
        #expect(type.description == texts[0])
        #expect(Set(texts.map { MediaType($0) } + [type]).count == 1)
        #expect(MediaType(type.essence + "; charset=utf-16") != type)
    }

    @Test(.oneAtATime, arguments: [("a/b", ";"), ("a/b; p=\"", "\\\""), ("a/b", ";p=1")])
    func `a field of a megabyte is read in linear time`(start: String, part: String) {
        #expect(MediaType(start + String(repeating: part, count: 1_000_000 / part.utf8.count))?.essence == "a/b")
    }

    // The media types of files, which are the same on all platforms.

    @Test(arguments: [
        ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("heic", "image/heic"),
        ("svg", "image/svg+xml"), ("mp4", "video/mp4"), ("mov", "video/quicktime"), ("mp3", "audio/mpeg"),
        ("m4a", "audio/mp4"), ("txt", "text/plain"), ("html", "text/html"), ("csv", "text/csv"),
        ("json", "application/json"), ("ndjson", "application/x-ndjson"), ("xml", "application/xml"),
        ("pdf", "application/pdf"),
        ("zip", "application/zip"), ("gz", "application/gzip"), ("wasm", "application/wasm"), ("woff2", "font/woff2"),
        ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ])
    func `a common extension has its media type, in any case`(name: String, type: String) {
        #expect(MediaType(fileExtension: name)?.description == type)
        #expect(MediaType(fileExtension: name.uppercased())?.description == type)
    }

    @Test(arguments: ["", " ", ".png", "png ", "exe", "pn\u{67}\u{301}", "image/png", "\u{0}", "\u{130}co"])
    func `any other extension, of any length, has none`(name: String) {
        #expect(MediaType(fileExtension: name) == nil)
        #expect(MediaType(fileExtension: name + String(repeating: "p\u{301}", count: 50_000)) == nil)
    }
}
