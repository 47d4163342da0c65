import Testing

@testable import URLConfig

@Suite struct TypedRequestTests {
    private struct User: Codable, Equatable, Sendable { var name: String }
    private struct Envelope: Decodable, Sendable { var data: User }

    private struct Failure: Error {}

    private static let user = Data(#"{"name":"Rex"}"#.utf8)

    /// The value that is read from a response to the request.
    private func value<Output>(
        of request: TypedRequest<Output>, _ data: Data = user, status: HTTPResponse.Status = .ok
    ) throws -> Output {
        try request.reader.read(DataResponse(request: request.request, status: status, data: data))
    }

    @Test func `the request is the one that URLRequest makes`() throws {
        let configure = { (config: inout URLRequest.Config) in
            config.method = .put
            config.path = "/users/\(7)"
            config.query["page"] = 2
            config.body["name"] = "Rex"
        }
        let request = URLRequest.with(.api, configure)
        #expect(TypedRequest<User>.with(.api, configure).request == request)
        #expect(TypedRequest<User?>.with(.api, reader: .json, configure).request == request)
        #expect(TypedRequest(request, reader: .text).request == request)
        #expect(TypedRequest(request, reader: .none).request == request)
        #expect(request.bodyText == #"{"name":"Rex"}"#)
    }

    @Test func `a preset need not be named`() {
        #expect(TypedRequest<User>.with { $0.host = "https://h.example" }.request.urlText == "https://h.example")
    }

    @Test func `what the closure throws is rethrown, with its type`() {
        func request() throws(Failure) -> TypedRequest<User> {
            try .with(.api) { (_: inout URLRequest.Config) throws(Failure) in throw Failure() }
        }
        #expect(throws: Failure.self) { try request() }
    }

    @Test func `a reader is chosen by the type of the value`() throws {
        #expect(try value(of: TypedRequest<User>.with(.api) { _ in }) == User(name: "Rex"))
        #expect(try value(of: TypedRequest<User?>.with(.api) { _ in }) == User(name: "Rex"))
        #expect(try value(of: TypedRequest<String>.with(.api) { _ in }) == #"{"name":"Rex"}"#)
        #expect(try value(of: TypedRequest<Data>.with(.api) { _ in }) == Self.user)
        try value(of: TypedRequest(.with(.api) { _ in }, reader: .none))
    }

    @Test func `generic code chooses the same readers`() throws {
        func request<Output: Decodable & Sendable>(_ type: Output.Type) -> TypedRequest<Output> { .with(.api) { _ in } }
        #expect(try value(of: request(String.self)) == #"{"name":"Rex"}"#)
        #expect(try value(of: request(Data.self)) == Self.user)
        #expect(try value(of: request(User.self)) == User(name: "Rex"))
    }

    @Test func `a value is made of another one`() throws {
        let request = TypedRequest<Envelope>.with(.api) { $0.path = "/me" }.map(\.data)
        #expect(request.request.urlText == "https://api.example.com/me")
        #expect(try value(of: request, Data(#"{"data":{"name":"Rex"}}"#.utf8)) == User(name: "Rex"))
    }

    @Test func `what the transformation throws is rethrown, and it is not called for a refused response`() throws {
        let request = TypedRequest<User>.with(.api) { _ in }.map { user -> String in
            #expect(user.name == "Rex")
            throw Failure()
        }
        #expect(throws: Failure.self) { try value(of: request) }
        expectThrown(.unacceptableStatus) { try value(of: request, status: .notFound) }
    }
}

extension URLRequest.Config {
    fileprivate static let api = Self(host: "https://api.example.com")
}
