@testable import URLConfig

/// Faults in the head of a response.
extension FaultServer.Fault {
    /// One field of 1 MB.
    static let hugeField = raw("HTTP/1.1 200 OK\r\nX-Huge: \(String(repeating: "v", count: 1_000_000))\r\n" + rest)

    /// 10,000 fields.
    static let manyFields = raw("HTTP/1.1 200 OK\r\n\((0..<10_000).map { "X-\($0): v\r\n" }.joined())" + rest)

    /// Closes within the fields, which crashes Foundation on Linux.
    static let truncatedHead = raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Ta")

    static let conflictingLengths = raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 10\r\n\r\n0123456789")

    static let lengthAndChunks = raw(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n")

    /// Any value for the length of a body of 2 bytes.
    static func length(_ value: String) -> Self { raw("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\n{}") }

    /// A final response after many responses like `100 Continue` or `103 Early Hints`.
    static func interim(_ status: String, times: Int = 1_000) -> Self {
        raw(String(repeating: "HTTP/1.1 \(status)\r\nX-Interim: 1\r\n\r\n", count: times) + answer("{}"))
    }

    /// A response that sets a cookie.
    static func cookie(_ field: String) -> Self { raw("HTTP/1.1 200 OK\r\nSet-Cookie: \(field)\r\n" + rest) }

    /// Any status line.
    static func statusLine(_ line: String) -> Self { raw("\(line)\r\n" + rest) }

    /// Lines for `statusLine(_:)` that no server should send.
    static let oddStatusLines = [
        "HTTP/1.1 000 Zero", "HTTP/1.1 99 Short", "HTTP/1.1 600 Beyond", "HTTP/1.1 999 Last", "HTTP/1.1 1000 Long",
        "HTTP/1.1 -200 Negative", "HTTP/1.1 abc Letters", "HTTP/1.1 2OO Letters", "HTTP/1.1 200", "HTTP/1.1 200 ",
        "HTTP/1.1 99999999999999999999 Huge", "HTTP/1.1", "HTTP/9.9 200 OK", "HTTP/2 200", "HTTP/1.1  200 OK",
        "ICY 200 OK", "HTTP/1.1 101 Switching Protocols", "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified",
    ]

    static let bareLineFeeds = raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\n{}")

    /// Fields after the last chunk.
    static let trailers = raw(chunkedHead + "2\r\n{}\r\n0\r\nX-Checksum: abc\r\nX-Other: 1\r\n\r\n")

    /// A field line that may be invalid.
    static func fieldLine(_ line: String) -> Self { raw("HTTP/1.1 200 OK\r\n\(line)\r\n" + rest) }

    /// Lines for `fieldLine(_:)` that no server should send.
    static let oddFieldLines = [
        "no colon", ": no name", "X Y: blank in the name", "X-Tag : blank after the name", "X-Tag:", "X-\u{E9}: name",
        "X-Tag: \u{E9}", "X-Tag: a\u{0}b", "X-Tag: a\r\n folded", " folded: at once", "X-Tag: a\rb",
    ]

    /// Redirects every request to the given target.
    static func redirect(to location: String, status: String = "302 Found") -> Self {
        raw("HTTP/1.1 \(status)\r\nLocation: \(location)\r\n" + rest)
    }

    /// Invalid targets for `redirect(to:)`; the first one crashes Foundation on Linux.
    static let hostileLocations = [
        "//[::1]:1/", "", "//", "///", "http://", "http:///path", "http://127.0.0.1:99999/", "http://127.0.0.1:0/",
        "http://127.0.0.1:-1/", "http://127.0.0.1:x/", "http://user:password@127.0.0.1:1/", "file:///etc/passwd",
        "ftp://127.0.0.1:1/", "data:text/plain,a", "javascript:alert(1)", "about:blank", "http://[::1", "http://[z]:1/",
        "http://a b/", "/a b", "/%zz", "/%", "/\u{E9}", "/a\u{0}b", "?query", "#fragment", "../../..",
        "\\\\h.invalid\\a", "http:\\\\h.invalid", "http:a", "//127.0.0.1:1/", "//h.invalid/", "http://\u{E9}.invalid/",
        ":", "::", "//:1/", "//@/", "http://h.invalid:1:2/", "/\(String(repeating: "a", count: 100_000))",
    ]

    private static let rest = "Content-Length: 2\r\n\r\n{}"
}
