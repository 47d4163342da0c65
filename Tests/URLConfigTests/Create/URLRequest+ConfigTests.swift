import Foundation
import Testing
import URLConfig

/// Presets and the native fields.
@Suite struct URLRequestConfigTests {
    private static let api = URLRequest.Config(host: "https://h.example/v2") {
        $0.headers[.accept] = "application/json"
        $0.query["k"] = 1
    }

    @Test func `a call that changes, adds or removes header fields of a preset does not send the preset's`() {
        let preset = URLRequest.Config(host: "https://h.example") {
            $0.headers[.accept] = "text/plain"
            $0.headers[.authorization] = "Bearer preset"
        }
        let all = ["Accept": "text/plain", "Authorization": "Bearer preset"]
        func fields(_ change: (inout HTTPFields) -> Void) -> [String: String]? {
            URLRequest.with(preset) { change(&$0.headers) }.allHTTPHeaderFields
        }
        #expect(fields { $0[.accept] = "text/html" } == all.merging(["Accept": "text/html"]) { $1 })
        #expect(fields { $0[.userAgent] = "a" } == all.merging(["User-Agent": "a"]) { $1 })
        #expect(fields { $0[.authorization] = nil } == ["Accept": "text/plain"])
        #expect(fields { $0 = [:] } ?? [:] == [:])
        let derived = preset.with { $0.headers[.authorization] = nil }
        #expect(URLRequest.with(derived).allHTTPHeaderFields == ["Accept": "text/plain"])
        #expect(URLRequest.with(preset).allHTTPHeaderFields == all)
    }

    @Test func `a preset stays as it is whatever is made of it`() {
        let admin = Self.api.with {
            $0.query["as"] = "admin"
            $0.headers[.accept] = "text/html"
        }
        let request = URLRequest.with(admin) {
            $0.path = "a"
            $0.method = .delete
        }
        #expect(request.urlText == "https://h.example/v2/a?k=1&as=admin")
        #expect(request.field("Accept") == "text/html")
        #expect(request.httpMethod == "DELETE")
        let plain = URLRequest.with(Self.api) { _ in }
        #expect(plain.urlText == "https://h.example/v2?k=1")
        #expect(plain.field("Accept") == "application/json")
        #expect(plain.httpMethod == "GET")
    }

    private struct Failure: Error {}

    @Test func `what a closure throws is rethrown`() {
        #expect(throws: Failure.self) { try URLRequest.with(Self.api) { _ in throw Failure() } }
        #expect(throws: Failure.self) { _ = try Self.api.with { _ in throw Failure() } }
        #expect(throws: Failure.self) { _ = try URLRequest.Config(host: "") { _ in throw Failure() } }
    }

    @Test func `a configuration for a host has nothing but the host`() {
        let config = URLRequest.Config(host: "https://h.example")
        #expect(config.headers.isEmpty && config.authorization == nil)
        #expect(config.method == .get && config.path == "" && config.timeout == nil && config.modify == nil)
        let request = URLRequest.with(config) { _ in }
        #expect(request.allHTTPHeaderFields ?? [:] == [:])
        #expect(request.httpBody == nil)
    }

    @Test func `what is not set is as URLRequest has it`() throws {
        let request = URLRequest.with(.init(host: "https://h.example")) { _ in }
        let plain = URLRequest(url: try #require(URL(string: "https://h.example")))
        #expect(request.cachePolicy == plain.cachePolicy)
        #expect(request.timeoutInterval == plain.timeoutInterval)
        #expect(request.httpMethod == plain.httpMethod)
    }

    @Test func `native fields reach the request`() {
        let request = URLRequest.with(Self.api) {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
            $0.modify = { $0.allowsCellularAccess = false }
            $0.timeout = .seconds(7)
        }
        #expect(request.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(!request.allowsCellularAccess)
        #expect(request.timeoutInterval == 7)
    }

    @Test func `modify has the last word`() {
        let request = URLRequest.with(Self.api) {
            $0.modify = {
                $0.url = URL(string: "https://other.example")
                $0.httpMethod = "PROPFIND"
                $0.setValue("a/b", forHTTPHeaderField: "Accept")
                $0.httpBody = Data("x".utf8)
                $0.timeoutInterval = 3
            }
            $0.method = .get
            $0.headers[.accept] = "c/d"
            $0.timeout = .seconds(9)
        }
        #expect(request.urlText == "https://other.example")
        #expect(request.httpMethod == "PROPFIND")
        #expect(request.field("Accept") == "a/b")
        #expect(request.bodyText == "x")
        #expect(request.timeoutInterval == 3)
    }

    @Test func `equal configurations give equal requests`() {
        let make = {
            URLRequest.with(Self.api) {
                $0.method = .post
                $0.body["b"] = 1
                $0.body["a"] = ["z": 1, "y": [true, nil]]
            }
        }
        #expect((0..<50).allSatisfy { _ in make() == make() })
        #expect((0..<50).allSatisfy { _ in make().httpBody == make().httpBody })
    }

    @Test func `changing the encoder changes it for one configuration only`() {
        struct Model: Encodable, Sendable { var myKey = 1 }
        let plain = URLRequest.Config(host: "https://h") { $0.method = .post }
        let snake = plain.with { $0.encoder.keyEncodingStrategy = .convertToSnakeCase }
        let pretty = snake.with { $0.encoder.outputFormatting = .prettyPrinted }
        let bodies = [plain, snake, pretty].map { preset in
            URLRequest.with(preset) { $0.bodyModel = Model() }.httpBody.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(bodies == [#"{"myKey":1}"#, #"{"my_key":1}"#, "{\n  \"my_key\" : 1\n}"])
    }
}
