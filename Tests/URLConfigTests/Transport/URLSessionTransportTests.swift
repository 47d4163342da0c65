import Testing

@testable import URLConfig

/// The header fields of a response, whatever their names.
@Suite struct URLSessionTransportTests {
    private func fields(_ fields: [String: String]) throws -> HTTPFields {
        let url = try #require(URL(string: "https://h.example"))
        return HTTPFields(
            try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)))
    }

    @Test func `fields are taken over, whatever the case of their names`() throws {
        let fields = try fields(["content-type": "text/html", "X-Tag": "a, b"])
        #expect(fields[.contentType] == "text/html")
        #expect(fields[try #require(HTTPField.Name("x-tag"))] == "a, b")
        #expect(fields.count == 2)
    }

    @Test(arguments: ["", "a b", "a:b", "a\r\nb", "\u{E9}", "a/b", "a\u{0}"])
    func `an invalid name is left out`(name: String) throws {
        #expect(try fields([name: "v", "Server": "s"]).map(\.name) == [.server])
    }

    @Test func `more fields than the type can contain do not trap`() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<40_000).map { ("X-\($0)", "v") })
        #expect(try fields(many).count == 1 << 15)
    }

    @Test(
        arguments: [
            ("5", 5), ("0", 0), ("+5", nil), ("-5", nil), (" 5", nil), ("5,5", nil), ("", nil),
            ("9223372036854775808", nil),
        ] as [(String, Int64?)])
    func `the length that a stream declares is a number without a sign`(text: String, length: Int64?) throws {
        var request = URLRequest(url: try #require(URL(string: "https://h.example")))
        request.setValue(text, forHTTPHeaderField: "Content-Length")
        #expect(request.declaredLength == length)
    }
}
