import Testing
import URLConfig
import URLConfigTesting

/// The call sites that users are promised, character for character.
@Suite(.inTime) struct CallSiteTests {
    private struct Article: Codable, Equatable, Sendable {
        var title: String
    }

    private let userID = 7

    @Test func `a header field from a list`() {
        let request = URLRequest.with(.dogapi) { $0.headers[.acceptLanguage] = ["en-US", "zh-Hans-CN"] }
        #expect(request.value(forHTTPHeaderField: "Accept-Language") == "en-US, zh-Hans-CN")
    }

    @Test func `a body from members`() throws {
        let request = URLRequest.with(.dogapi) {
            $0.method = .post
            $0.body["title"] = "some-title"
            $0.body["meta"] = ["draft": true, "tags": ["a", "b"], "ratio": 1.5, "none": .null, "gone": nil]
            $0.body["items"] = [["id": .value(userID), "qty": 2]]
            $0.body["author"] = ["id": userID, "name": "Ann"]
            $0.body["deletedAt"] = .null
        }
        let body = try #require(request.httpBody)
        let expected =
            #"{"author":{"id":7,"name":"Ann"},"deletedAt":null,"items":[{"id":7,"qty":2}],"#
            + #""meta":{"draft":true,"none":null,"ratio":1.5,"tags":["a","b"]},"title":"some-title"}"#
        #expect(String(decoding: body, as: UTF8.self) == expected)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test func `a path with a value`() {
        let request = URLRequest.with(.dogapi) { $0.path = "/users/\(userID)/article" }
        #expect(request.url?.absoluteString == "https://dogapi.dog/users/7/article")
    }

    @Test func `a preset as it is`() {
        #expect(URLRequest.with(.dogapi).url?.absoluteString == "https://dogapi.dog")
    }

    @Test func `typed query items`() {
        let request = URLRequest.with(.dogapi) {
            $0.path = "/search"
            $0.query["gone"] = "here"
            $0.query["query"] = "APL"
            $0.query["page"] = 2
            $0.query["ids"] = [1, 2]
            $0.query["gone"] = nil
        }
        #expect(request.url?.absoluteString == "https://dogapi.dog/search?query=APL&page=2&ids=1&ids=2")
    }

    @Test func `a computed preset`() {
        let request = URLRequest.with(.signedIn) {
            $0.host = "https://dogapi.dog"
            $0.path = "/me"
        }
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer abc")
        #expect(request.url?.absoluteString == "https://dogapi.dog/me")
    }

    @Test(
        .stubs {
            $0.get("/secret", .status(.forbidden))
            $0.get("/article", .json(#"{"title":"some-title"}"#))
        })
    func `three stages, with a status that means unauthorized`() async throws {
        let request = URLRequest.with(stubs.config) { $0.path = "/article" }
        let response = try await stubs.session.response(for: request) {
            $0.isUnauthorized = { $0.status == .forbidden }
        }
        #expect(response.status == .ok)
        let article: Article = try response.decode()
        #expect(article == Article(title: "some-title"))
        #expect(try response.decode(Article.self) == article)
        #expect(try response.decode(decoder: .custom) == article)
        #expect(try response.decode { $0.decoder = JSONDecoder() } == article)

        await expectError(.unauthorized) {
            try await stubs.session.response(for: URLRequest.with(stubs.config) { $0.path = "/secret" }) {
                $0.logger = nil
                $0.isUnauthorized = { $0.status == .forbidden }
            }
        }
    }

    @Test func `what users try first`() async throws {
        let value: String? = "x"
        let fields: HTTPFields = [.accept: "text/html"]
        let request = URLRequest.with(.signedIn) {
            ($0.host, $0.method) = ("https://dogapi.dog", .post)
            $0.headers = fields
            $0.headers["X-Foo"] = value
            $0.headers["X-Gone"] = nil
            $0.authorization = .bearer("preset")
            var form = MultipartForm(.dogapi)
            form.append("shot", data: Data("1".utf8), filename: "1.png", contentType: .png)
            $0.body = .multipart(form)
        }
        #expect(request.value(forHTTPHeaderField: "X-Foo") == "x" && request.httpBody?.isEmpty == false)
        let literal = URLRequest.with(.dogapi) { $0.headers = [.accept: "text/html"] }
        #expect(literal.value(forHTTPHeaderField: "Accept") == "text/html")
        let own = URLRequest.with(.keyed) { $0.headers[.authorization] = "Bearer own" }
        #expect(own.value(forHTTPHeaderField: "Authorization") == "Bearer own")
        let stub = Transport { _ in .init(body: .init(Data(#"{"title":"a"}"#.utf8))) }
        let article: Article = try await URLSession.shared.value(for: .with(.dogapi) { $0.path = "/me" }) {
            $0.transport = stub
            $0.retry = nil
            $0.decoder = .github
        }
        #expect(article == Article(title: "a"))
    }

    @Test(.stubs { $0.any("/*", .json(#"{"title":"some-title"}"#).delay(.seconds(1))) })
    func `names that users of the package have long written`() async throws {
        var file = URLRequest.File(key: "photo", name: "a.png", data: Data([1]), mimeType: "image/png")
        file.key = "picture"
        var upload = URLRequest(url: try #require(URL(string: stubs.host + "/upload")))
        upload.httpMethod = "POST"
        upload.setMultipartFormData(parameters: ["title": "Holiday"], files: [file])
        #expect(upload.urlString == "POST \(stubs.host)/upload")
        #expect(upload.bodyString.contains("Holiday") && upload.bodyString.contains("<1 bytes image/png>"))

        let request = URLRequest.with(stubs.config) {
            $0.method = .post
            $0.timeoutInterval = 600
            $0.bodyModel = Article(title: "some-title")
        }
        for request in [upload, request] {
            let response = try await stubs.session.response(for: request) {
                $0.logger = nil
                $0.logBody = true
                $0.logBody = false
                $0.logBody = 100
            }
            let article: Article = try response.decode()
            #expect(try response.decode(decoder: .custom) == article)
            #expect(try response.decode { $0.decoder = JSONDecoder() } == article)
            #expect(response.headerFields[.contentType] == "application/json")
            #expect(response.bodyString.contains("some-title"))
            #expect(!response.fromCache && response.duration > .zero)
        }
        #expect(DataResponse.Config.defaultDecoder is JSONDecoder)
        #expect(!URLRequest.Config.defaultHost.contains(" "))
        #expect(URLSession.Config.defaultLogger?.label != "")
        #expect(URLSession.Config.defaultTaskDelegate == nil)
    }
}

extension URLRequest.Config {
    fileprivate static let dogapi = Self(host: "https://dogapi.dog")

    fileprivate static let keyed = dogapi.with { $0.authorization = .bearer("preset") }

    fileprivate static var signedIn: Self {
        var config = Self()
        config.headers[.authorization] = "Bearer abc"
        return config
    }
}

extension JSONDecoder {
    fileprivate static let custom = JSONDecoder()
}

extension ResponseDecoder where Self == JSONDecoder {
    fileprivate static var github: JSONDecoder { .custom }
}
