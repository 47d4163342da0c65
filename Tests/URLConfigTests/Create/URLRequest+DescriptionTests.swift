import Foundation
import Testing
import URLConfig

/// Descriptions of requests.
@Suite struct URLRequestDescriptionTests {
    private let config = URLRequest.Config(host: "https://h.example") {
        $0.method = .post
        $0.path = "/a b"
    }

    private func body(_ body: RequestBody) -> String {
        URLRequest.with(config) { $0.body = body }.bodyString
    }

    @Test func `the URL's text is method and URL, secrets hidden`() throws {
        let request = URLRequest.with(config) {
            $0.query["page"] = 1
            $0.query["access_token"] = "s3cret"
        }
        #expect(request.urlString == "POST https://h.example/a%20b?page=1&access_token=***")
        let byHand = URLRequest(url: try #require(URL(string: "https://u:s3cret@h.example/#id_token=s3cret")))
        #expect(byHand.urlString == "GET https://***@h.example/#id_token=***")
    }

    @Test func `a JSON body is laid out, secrets hidden`() {
        let text = body(["title": "t", "password": "s3cret", "list": [1], "none": [Int]()])
        #expect(
            text == """
                {
                  "list" : [
                    1
                  ],
                  "none" : [],
                  "password" : "***",
                  "title" : "t"
                }
                """)
    }

    @Test func `a form or a text is shown as it is, secrets hidden`() {
        #expect(body(.form(["user": "u v", "password": "s3cret"])) == "user=u+v&password=***")
        #expect(body(.text("h\u{E9}\n\"token\":\"s3cret\"")) == "h\u{E9}\n\"token\":\"***\"")
    }

    @Test func `bytes are summed up`() {
        #expect(body(.data(Data([1, 2, 3]), contentType: .png)) == "<3 bytes image/png>")
        #expect(body(.data(Data([0xFF, 0, 1]), contentType: .text)) == "<3 bytes text/plain>")
        var request = URLRequest.with(config) { $0.body = .data(Data([0xFF, 0xFE, 0xFD])) }
        request.setValue(nil, forHTTPHeaderField: "Content-Type")
        #expect(request.bodyString == "<3 bytes>")
    }

    @Test func `no body is no text, and a stream is one word`() {
        #expect(URLRequest.with(config) { _ in }.bodyString == "")
        #expect(body(.text("")) == "")
        let stream = URLRequest.with(config) {
            $0.modify = { $0.httpBodyStream = InputStream(data: Data("s3cret".utf8)) }
        }
        #expect(stream.bodyString == "<stream>")
    }
}
