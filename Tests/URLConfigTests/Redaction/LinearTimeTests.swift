import Testing

@testable import URLConfig

/// The time for any input grows with its length, not with the square of its length.
@Suite(.oneAtATime) struct LinearTimeTests {
    /// Combining marks, which Swift sorts before it compares two strings.
    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count / 4) }

    private func cURL(_ body: String, _ contentType: String) {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.httpMethod = "POST"
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(body.utf8)
        #expect(!request.cURL().isEmpty && !request.bodyString.isEmpty)
    }

    @Test(arguments: [("--b", "b"), ("--", "\"\""), ("--b\r\n", "b")])
    func `a multipart body of many boundaries`(part: String, boundary: String) {
        expectLinearTime(from: 150_000) { count in
            let body = String(repeating: part, count: count / part.utf8.count)
            cURL(body, "multipart/form-data; boundary=\(boundary)")
        }
    }

    @Test func `a multipart body with a boundary as long as itself`() {
        expectLinearTime(from: 25_000) { count in
            let boundary = String(repeating: "-", count: count / 2) + "x"
            cURL(String(repeating: "-", count: count), "multipart/form-data; boundary=\(boundary)")
        }
    }

    @Test(arguments: [
        " ", "; name=\"", "Content-Type:", "Content-Type: a/b;", "\t", "\"", "; name=a", ";a=\"b\";",
    ])
    func `the header of a part`(text: String) {
        expectLinearTime(from: 25_000) { count in
            let header = String(repeating: text, count: count / text.utf8.count)
            let body = "--b\r\nContent-Disposition: form-data;\(header)\r\n\r\nx\r\n--b--"
            cURL(body, "multipart/form-data; boundary=b")
        }
    }

    @Test(arguments: ["X", "X:", "Content-Type: a/b; charset=", "Content-Disposition: form-data", "\r\n"])
    func `combining marks in the header of a part`(start: String) {
        expectLinearTime(from: 12_000) { count in
            let body = "--b\r\n\(start)\"\(Self.marks(count))\"\r\n\r\nx\r\n--b--"
            cURL(body, "multipart/form-data; boundary=b")
        }
    }

    @Test(arguments: [
        ("{\"a", "\": 1}", "application/json"), ("a", "=1", "application/x-www-form-urlencoded"), ("a", "", "no type"),
        ("{\"a\": \"http://h?a", "=1&token=1\"}", "application/json"),
        ("{\"a\": \"token=1&a", "=1\"}", "application/json"),
    ])
    func `combining marks in a name`(start: String, end: String, contentType: String) {
        expectLinearTime(from: 12_000) { count in cURL(start + Self.marks(count) + end, contentType) }
    }

    @Test(arguments: ["_new", "_value", "_a"]) func `words at the end of a name, with names that an app adds`(
        word: String
    ) {
        let redaction = Redaction.standard.adding("birthday", "card_value")
        expectLinearTime(from: 25_000) { count in
            let name = "x" + String(repeating: word, count: count / word.utf8.count)
            #expect(!redaction.hides(name))
        }
    }

    @Test func `combining marks in a date and in a media type`() {
        expectLinearTime(from: 25_000) { count in
            let marks = Self.marks(count)
            let response = DataResponse(
                request: .with(.init(host: "http://h")),
                headerFields: [.retryAfter: marks, .lastModified: "Sun" + marks])
            #expect(response.retryAfter == nil && response.headerFields[date: .lastModified] == nil)
            let type = MediaType.init("text/plain; charset=\"\(marks)\"")
            #expect(type == type && type != .text && type?.hashValue == type?.hashValue)
        }
    }

    @Test(arguments: ["a=1; Domain=", "a=1; Path=/", "a=1; Path=", "a=1; ", "", "a="])
    func `combining marks in a cookie`(start: String) {
        expectLinearTime(from: 25_000) { count in
            var response = DataResponse(request: URLRequest(url: URL(fileURLWithPath: "/")))
            response.url = URL(string: "https://www.example.com")
            response.headerFields[.setCookie] = start + Self.marks(count) + "=1"
            #expect(response.cookies.count <= 1)
        }
    }

    @Test(arguments: ["<a>; rel=", "<a>; rel=next; ", "<a>; rel=next; title="])
    func `combining marks in a link`(start: String) throws {
        let name = try #require(HTTPField.Name("Link"))
        expectLinearTime(from: 25_000) { count in
            var response = DataResponse(request: URLRequest(url: URL(fileURLWithPath: "/")))
            response.headerFields[name] = start + Self.marks(count)
            #expect(response.links["prev"] == nil)
        }
    }

    @Test func `combining marks in a character set`() {
        expectLinearTime(from: 25_000) { count in
            let type = "text/plain; charset=\"\(Self.marks(count))\""
            let response = DataResponse(
                request: URLRequest(url: URL(fileURLWithPath: "/")), headerFields: [.contentType: type],
                data: Data("a".utf8))
            #expect((try? response.text()) == nil)
            #expect(!response.hasContentType(.text))
            var odd = response
            odd.data = Data("[\"".utf8) + [0xFF] + Data("\"]".utf8)
            let error = #expect(throws: RequestError.self) { _ = try odd.decode([Int].self) }
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }

    @Test(arguments: [true, false])
    func `request fields, of one name and of many`(isOne: Bool) throws {
        try expectLinearTime(from: 1000) { count in
            var fields = HTTPFields()
            for index in 0..<count {
                let name = try #require(HTTPField.Name(isOne ? "X-A" : "X-\(index)"))
                fields.append(HTTPField(name: name, value: "1"))
            }
            #expect(try fields.combined().count == (isOne ? 1 : count))
        }
    }

    // Masking, whatever a server repeats.

    /// What `SecretFinder` looks for: marks, schemes, names and the delimiters of values.
    static let special = [
        "=", ":", "://", "eyJ", "eyJhbGciOiJ", "basic", "Basic ", "bearer", "token", "token=", "\"token\":", "code=",
        "name=", "?key=", "a=%62", "?a=b+", "-----BEGIN ", "-----BEGIN A-----", "-----END ",
        "pin: [", "{\"token\": {", "{\"name\":\"token\",\"value\":", "[\"a\\\"", "token=\\\\\"", "user:p@",
        "\r\n--b\r\n",
        "\r\n\r\n", "; name=\"token\"", "%62asic", "\\u0065yJ", "%2562asic",
    ]
    /// The beginnings of tokens, which it also looks for.
    static let prefixes = SecretFinder.prefixes.map { String(decoding: $0, as: UTF8.self) }
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
                let body = Data(String(repeating: part, count: 1 + count / part.utf8.count).utf8)
                #expect(!Redaction.standard.sentBody(body, type).isEmpty)
            }
            return growth >= 24
        }
    }

    @Test(arguments: types)
    func `what the finder knows, with each separator, in each content type`(type: String?) {
        let parts = (Self.special + Self.prefixes).flatMap { special in Self.separators.map { special + $0 } }
        #expect(slow(parts, type) == [])
    }

    @Test(arguments: ["/", "=", ": ", "\n"], types)
    func `each hidden name, in each content type`(separator: String, type: String?) {
        #expect(slow(Redaction.standard.names.sorted().map { $0 + separator }, type) == [])
    }

    @Test(arguments: ["basic/", "eyJ.", "Bearer%20", "Bearer%20abc12345%20", "token=", "a:b@", "%", "/../"])
    func `a URL of 40 kB is masked, shown and resolved`(part: String) throws {
        let base = try #require(URL(string: "http://a.example.com/"))
        expectLinearTime(from: 10_000) { count in
            let path = "/" + String(repeating: part, count: count / part.utf8.count)
            #expect(!Redaction.standard.url("http://a.example.com" + path).isEmpty)
            let request = URLRequest(url: URL(reference: path, relativeTo: base) ?? base)
            #expect(!request.urlString.isEmpty && !request.cURL().isEmpty)
        }
    }
}
