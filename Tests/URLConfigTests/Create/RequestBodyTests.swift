import Testing

@testable import URLConfig

/// Bodies from members, whole bodies and forms, and bodies that cannot be sent.
@Suite struct RequestBodyTests {
    private let config = URLRequest.Config(host: "https://h.example") { $0.method = .post }

    private func request(_ configure: (inout URLRequest.Config) -> Void) -> URLRequest {
        URLRequest.with(config, configure)
    }

    @Test func `members make a JSON object, sorted by name; nil removes a member, and the last one leaves no body`() {
        let request = request {
            $0.body["b"] = 1
            $0.body["a"] = "x/y"
            $0.body["c"] = [true, false]
            $0.body["d"] = 2
            $0.body["d"] = nil
        }
        #expect(request.bodyText == #"{"a":"x/y","b":1,"c":[true,false]}"#)
        #expect(request.field("Content-Type") == "application/json")
        let none: String? = nil
        let empty = self.request {
            $0.body["a"] = 1
            $0.body["a"] = none
            $0.body["absent"] = nil
        }
        #expect(empty.httpBody == nil && empty.field("Content-Type") == nil)
    }

    private struct Article: Encodable { var pageTitle = "t" }

    @Test func `a model is encoded under JSON's media type, and can be read and removed`() {
        for request in [request { $0.body = .json(Article()) }, request { $0.bodyModel = Article() }] {
            #expect(request.bodyText == #"{"pageTitle":"t"}"#)
            #expect(request.field("Content-Type") == "application/json")
        }
        var config = config.with { $0.bodyModel = Article() }
        #expect(config.bodyModel is Article)
        config.bodyModel = nil
        #expect(config.bodyModel == nil && URLRequest.with(config).httpBody == nil)
    }

    @Test func `text, bytes and forms carry their media types`() {
        let text = request { $0.body = .text("h\u{E9}") }
        #expect(text.httpBody == Data([0x68, 0xC3, 0xA9]))
        #expect(text.field("Content-Type") == "text/plain; charset=utf-8")
        #expect(request { $0.body = .text("<p>", contentType: .html) }.field("Content-Type") == "text/html")
        let data = request { $0.body = .data(Data([0, 255])) }
        #expect(data.httpBody == Data([0, 255]))
        #expect(data.field("Content-Type") == "application/octet-stream")
        #expect(request { $0.body = .data(Data(), contentType: .png) }.field("Content-Type") == "image/png")
        let form = request { $0.body = .form(["b": "x y", "a": [1, 2]]) }
        #expect(form.bodyText == "b=x+y&a=1&a=2")
        #expect(form.field("Content-Type") == "application/x-www-form-urlencoded")
    }

    @Test(arguments: [.json(1), .text("x"), .data(Data()), .form(["a": 1]), ["a": 1]] as [RequestBody])
    func `a content type of the caller's own is never overwritten`(body: RequestBody) {
        let request = request {
            $0.headers[.contentType] = "application/vnd.api+json"
            $0.body = body
        }
        #expect(request.field("Content-Type") == "application/vnd.api+json")
    }

    @Test func `an app's own kind of body gets the fields and an encoder, which no other request has`() {
        let changing = request {
            $0.body = RequestBody { fields, encoder in
                fields[.contentEncoding] = "x"
                encoder.keyEncodingStrategy = .convertToSnakeCase
                return try encoder.encode(Article())
            }
        }
        #expect(changing.bodyText == #"{"page_title":"t"}"#)
        #expect(changing.allHTTPHeaderFields == ["Content-Encoding": "x"])
        #expect(request { $0.body = .json(Article()) }.bodyText == #"{"pageTitle":"t"}"#)
    }

    @Test func `dump and print show no members`() {
        var text = ""
        let body: RequestBody = ["password": "s3cret"]
        dump(body, to: &text)
        dump(TypedRequest<String>.with(config) { $0.query["token"] = "s3cret" }, to: &text)
        #expect(!"\(text) \(body) \(RequestBody.json(["password": "s3cret"]))".contains("s3cret"))
    }

    // Forms.

    /// WHATWG URL §5.2: ASCII letters, digits, `*`, `-`, `.` and `_` stay, a space becomes a plus, the rest is encoded.
    @Test(arguments: [
        ("a b", "a+b"), ("a+b", "a%2Bb"), ("*-._", "*-._"), ("~", "%7E"), ("a&b=c", "a%26b%3Dc"), ("\u{E9}", "%C3%A9"),
        ("\u{1F600}", "%F0%9F%98%80"), ("\r\n", "%0D%0A"), ("100%", "100%25"), ("%20", "%2520"),
        ("!'()", "%21%27%28%29"), ("", ""), ("/?#[]@:$,;", "%2F%3F%23%5B%5D%40%3A%24%2C%3B"), ("\u{0}", "%00"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
    ])
    func `a form is encoded as WHATWG URL says`(plain: String, encoded: String) {
        #expect(form(["k": plain]).bodyText == "k=" + encoded)
        var items: URLRequest.Query = [:]
        items.append(plain, "v")
        #expect(form(items).bodyText == encoded + "=v")
    }

    private func form(_ items: URLRequest.Query) -> URLRequest { request { $0.body = .form(items) } }

    @Test func `items of a form keep their order, and lists their style`() {
        var items: URLRequest.Query = ["b": 1, "a": [1, 2]]
        items.arrayStyle = .brackets
        #expect(form(items).bodyText == "b=1&a%5B%5D=1&a%5B%5D=2")
        #expect(form([:]).bodyText == "")
        items.append(contentsOf: [[1]])
        #expect(form(items).refusal?.code == .invalidRequest, "the model does not fit")
    }

    // Bodies that cannot be sent.

    private func refusal(_ configure: (inout URLRequest.Config) -> Void) -> RequestError? {
        config.with(configure).refusal
    }

    @Test(arguments: [.get, .head, .trace, .post, .put, .patch, .delete, .options] as [HTTPRequest.Method])
    func `a body is refused for a method that has none`(method: HTTPRequest.Method) {
        for body in [["a": 1], .json(1), .text(""), .data(Data()), .form([:])] as [RequestBody] {
            let error = refusal { ($0.method, $0.body) = (method, body) }
            let isRefused = error.says(.invalidRequest, method.rawValue, ".post")
            #expect(isRefused == [.get, .head, .trace].contains(method) && (isRefused || error == nil))
        }
        #expect(request { $0.method = method }.httpMethod == method.rawValue)
        let request = request { ($0.method, $0.body) = (method, ["a": 1]) }
        #expect(request.refusal != nil || request.bodyText == #"{"a":1}"#)
    }

    private struct Broken: Error {}

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw Broken() }
    }

    @Test func `the error of an encoding is the underlying error`() {
        #expect(refusal { $0.body = .json(Unencodable()) }?.underlyingError is Broken)
        #expect(refusal { $0.body["a"] = Unencodable() }?.underlyingError is Broken)
        #expect(refusal { $0.bodyModel = Unencodable() }?.code == .invalidRequest)
        #expect(refusal { $0.body = RequestBody { _, _ in throw Broken() } }?.underlyingError is Broken)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func `a number that JSON cannot express is refused by its name`(number: Double) {
        let error = refusal {
            $0.body["fine"] = 1
            $0.body["ratio"] = number
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlyingError is EncodingError)
        #expect(error?.reason.hasPrefix("body: ratio") == true, "\(error?.reason ?? "")")
    }

    @Test func `a member set on a whole body is refused`() {
        for whole in [.json(1), .text("x"), .form(["a": 1])] as [RequestBody] {
            let error = refusal {
                $0.body = whole
                $0.body["title"] = 1
            }
            #expect(error.says(.invalidRequest, "'title'"))
            let replaced = refusal {
                $0.body["a"] = 1
                $0.body = whole
                $0.body["b"] = 1
                $0.body = .json(1)
            }
            #expect(replaced == nil)
        }
    }
}
