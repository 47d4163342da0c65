import BenchmarkContent
import Foundation

/// The bytes of a response: a head, with the whole content if that is small, and bytes of ``Pattern``.
struct Answer {
    private static let model = #"{"id":4711,"title":"some-title","text":"A line of text.","tags":["a","b"],"views":12}"#
    private static let small = Self("200 OK", type: "application/json", content: model)
    private static let smallForCache = Self("200 OK", type: "application/json", content: model, caching: mayBeStored)
    private static let mayBeStored = "max-age=2147483648"
    private static let missing = Self("404 Not Found", type: "text/plain", content: "")

    let head: [UInt8]
    /// The bytes that follow the head.
    let fill: Int

    /// - Parameter path: `/small`, a model as JSON, or `/body/<n>`, so many bytes; with a query, caches may store it.
    init(path target: some Collection<UInt8>) {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        let hasQuery = path.count < target.count
        if path.elementsEqual("/small".utf8) {
            self = hasQuery ? Self.smallForCache : Self.small
        } else if path.starts(with: "/body/".utf8),
            let count = Int(String(decoding: path.dropFirst(6), as: UTF8.self)), count >= 0
        {
            self = Self(
                "200 OK", type: "application/octet-stream", content: "", fill: count,
                caching: hasQuery ? Self.mayBeStored : "no-store")
        } else {
            self = Self.missing
        }
    }

    /// What the server has received, as JSON.
    init(_ checksum: Checksum) throws {
        let content = try String(decoding: JSONEncoder().encode(checksum), as: UTF8.self)
        self.init("200 OK", type: "application/json", content: content)
    }

    private init(_ status: String, type: String, content: String, fill: Int = 0, caching: String = "no-store") {
        let lines = [
            "HTTP/1.1 \(status)", "Date: Fri, 02 Jan 2026 10:00:00 GMT", "Content-Type: \(type)",
            "Content-Length: \(content.utf8.count + fill)", "Cache-Control: \(caching)",
            "X-Request-Id: 0123456789abcdef",
        ]
        head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + content).utf8)
        self.fill = fill
    }
}
