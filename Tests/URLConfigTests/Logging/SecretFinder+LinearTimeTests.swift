import Foundation
import Testing

@testable import URLConfig

/// Masking takes linear time, whatever a server repeats: it would stop the process otherwise.
@Suite(.oneAtATime) struct SecretFinderLinearTimeTests {
    /// What `SecretFinder` looks for: marks, schemes, prefixes, names and the delimiters of values.
    static let special = [
        "=", ":", "://", "<", "eyJ", "eyJhbGciOiJ", "basic", "Basic ", "bearer", "token", "token=", "\"token\":",
        "code=", "name=", "charset=", "<key>", "<name>token</name>", "<token>", "<token ", "<input name=token",
        "pass:", "pin: [", "{\"token\": {", "token: \"\"\"", "token=\\\\\"", "basic realm=\"", "user:p@", "\r\n--b\r\n",
        "; name=\"token\"",
        "%62asic", "\\u0065yJ", "&#98;asic", "%2562asic",
    ]
    static let separators = ["", "/", ".", " ", "\n", "=", "\"", "\\", ">", "&", ";", "+", "@", "a", "1"]
    static let types = [
        nil, "text/plain", "application/json", "application/x-www-form-urlencoded", "application/xml",
        "multipart/form-data; boundary=b",
    ]

    /// The texts of repeated parts whose masking takes more than linear time.
    private func slow(_ parts: [String], _ type: String?) -> [String] {
        let type = type.flatMap { MediaType($0) }
        return parts.filter { part in
            let growth = growth(from: 1000) { count in
                let bytes = Array(String(repeating: part, count: 1 + count / part.utf8.count).utf8)
                _ = SecretFinder(bytes, type, .standard, hasNames: true)
            }
            return growth >= 24
        }
    }

    @Test(arguments: types)
    func `what the finder knows, with each separator, in each content type`(type: String?) {
        let parts = Self.special.flatMap { special in Self.separators.map { special + $0 } }
        #expect(slow(parts, type) == [])
    }

    @Test(arguments: ["/", "=", ": ", "\n"])
    func `each hidden name`(separator: String) {
        #expect(slow(Redaction.standard.names.sorted().map { $0 + separator }, "text/plain") == [])
    }

    @Test(arguments: ["basic/", "eyJ.", "Bearer%20", "token=", "a:b@", "%", "/../"])
    func `a URL of 40 kB is masked, shown and resolved`(part: String) throws {
        let base = try #require(URL(string: "http://a.example.com/"))
        let growth = growth(from: 10_000) { count in
            let path = "/" + String(repeating: part, count: count / part.utf8.count)
            #expect(!Redaction.standard.url("http://a.example.com" + path).isEmpty)
            let request = URLRequest(url: URL(reference: path, relativeTo: base) ?? base)
            #expect(!request.urlString.isEmpty && !request.cURL().isEmpty)
        }
        #expect(growth < 24)
    }
}
