import Foundation
import Testing
import URLConfig

/// Bodies that cannot be sent.
@Suite struct RequestBodyRefusalTests {
    private func refusal(_ configure: (inout URLRequest.Config) -> Void) -> RequestError? {
        URLRequest.Config(host: "https://h.example") { $0.method = .post }.with(configure).refusal
    }

    @Test(arguments: [.get, .head, .trace] as [HTTPRequest.Method])
    func `a method that has no place for a body is refused one`(method: HTTPRequest.Method) {
        for body in [["a": 1], .json(1), .text(""), .data(Data()), .form([:])] as [RequestBody] {
            let error = refusal {
                $0.method = method
                $0.body = body
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.reason.contains(method.rawValue) == true)
            #expect(error?.reason.contains(".post") == true)
        }
        #expect(refusal { $0.method = method } == nil)
    }

    @Test(arguments: [.post, .put, .patch, .delete, .options] as [HTTPRequest.Method])
    func `any other method may carry one`(method: HTTPRequest.Method) {
        let request = URLRequest.with(.init(host: "https://h.example")) {
            $0.method = method
            $0.body["a"] = 1
        }
        #expect(request.httpMethod == method.rawValue)
        #expect(request.bodyText == #"{"a":1}"#)
    }

    private struct Broken: Error {}

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw Broken() }
    }

    @Test func `what an encoding throws is the underlying error`() {
        #expect(refusal { $0.body = .json(Unencodable()) }?.underlyingError is Broken)
        #expect(refusal { $0.body["a"] = Unencodable() }?.underlyingError is Broken)
        #expect(refusal { $0.bodyModel = Unencodable() }?.code == .invalidRequest)
        #expect(refusal { $0.body = RequestBody { _, _ in throw Broken() } }?.underlyingError is Broken)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func `a number that JSON has no text for is refused by its name`(number: Double) {
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
            #expect(error?.code == .invalidRequest)
            #expect(error?.reason.contains("'title'") == true)
        }
    }

    @Test func `a whole body replaces members, and a conflict`() {
        #expect(
            refusal {
                $0.body["a"] = 1
                $0.body = .text("x")
                $0.body["b"] = 1
                $0.body = .json(1)
            } == nil)
    }

    @Test func `a form from a model that does not fit is refused`() {
        let error = refusal { $0.body = .form(URLRequest.Query([[1]])) }
        #expect(error?.code == .invalidRequest)
    }
}
