import Foundation
import Testing
import URLConfig

/// Forms in requests that are made by hand, and the encoding of their items.
@Suite struct URLRequestFormTests {
    private func request() throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://h.example/form")))
        request.httpMethod = "POST"
        return request
    }

    @Test func `a multipart form has its fields by name, then its files in order`() throws {
        var request = try request()
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        request.setMultipartFormData(
            parameters: ["b": "2", "a": "1"],
            files: [
                .init(key: "z", name: "z.txt", data: Data("Z".utf8), mimeType: .text),
                .init(key: "y", name: "y.bin", data: Data("Y".utf8)),
            ])
        let type = try #require(request.field("Content-Type").flatMap { MediaType($0) })
        let boundary = try #require(type.parameters["boundary"])
        #expect(type.essence == "multipart/form-data")
        let expected = [
            "--\(boundary)", "Content-Disposition: form-data; name=\"a\"", "", "1",
            "--\(boundary)", "Content-Disposition: form-data; name=\"b\"", "", "2",
            "--\(boundary)", "Content-Disposition: form-data; name=\"z\"; filename=\"z.txt\"",
            "Content-Type: text/plain; charset=utf-8", "", "Z",
            "--\(boundary)", "Content-Disposition: form-data; name=\"y\"; filename=\"y.bin\"",
            "Content-Type: application/octet-stream", "", "Y",
            "--\(boundary)--", "",
        ].joined(separator: "\r\n")
        #expect(request.httpBody == Data(expected.utf8))
        #expect(request.httpMethod == "POST")
    }

    /// WHATWG URL §5.2: ASCII letters, digits, `*`, `-`, `.` and `_` stay, a space becomes a plus, the rest is encoded.
    @Test(arguments: [
        ("a b", "a+b"), ("a+b", "a%2Bb"), ("*-._", "*-._"), ("~", "%7E"), ("a&b=c", "a%26b%3Dc"), ("\u{E9}", "%C3%A9"),
        ("\u{1F600}", "%F0%9F%98%80"), ("\r\n", "%0D%0A"), ("100%", "100%25"), ("%20", "%2520"),
        ("!'()", "%21%27%28%29"),
        ("", ""), ("/?#[]@:$,;", "%2F%3F%23%5B%5D%40%3A%24%2C%3B"), ("\u{0}", "%00"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ])
    func `a form is encoded as WHATWG URL says`(plain: String, encoded: String) {
        #expect(form(["k": plain]).bodyText == "k=" + encoded)
        var items = URLRequest.Query()
        items.append(plain, "v")
        #expect(form(items).bodyText == encoded + "=v")
    }

    private func form(_ items: URLRequest.Query) -> URLRequest {
        .with(.init(host: "https://h.example")) {
            $0.method = .post
            $0.body = .form(items)
        }
    }

    @Test func `items keep their order, and lists their style`() {
        var items: URLRequest.Query = ["b": 1, "a": [1, 2]]
        items.arrayStyle = .brackets
        #expect(form(items).bodyText == "b=1&a%5B%5D=1&a%5B%5D=2")
        #expect(form([:]).bodyText == "")
    }
}
