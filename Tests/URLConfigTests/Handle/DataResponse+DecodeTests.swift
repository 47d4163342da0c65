import Testing

@testable import URLConfig

@Suite struct DataResponseDecodeTests {
    @Test(arguments: [204, 205])
    func `no content is no value, if there need not be one`(status: Int) throws {
        let response = DataResponseTests.response([], status: .init(integerLiteral: status))
        let value = try response.decode([Int]?.self)
        #expect(value == nil)
        #expect(throws: RequestError.self) { try response.decode([Int].self) }
        #expect(throws: RequestError.self) { try DataResponseTests.response([]).decode([Int]?.self) }
        let odd = DataResponseTests.response("{".utf8, status: .noContent)
        #expect(throws: RequestError.self) { try odd.decode([Int]?.self) }
    }

    private struct User: Codable, Equatable {
        var email: String
        var age: Int
    }

    private func response(_ text: String) -> DataResponse {
        DataResponseTests.response(text.utf8, contentType: "application/json")
    }

    @Test func `any decoder fits`() throws {
        struct Fixed: ResponseDecoder {
            func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
                try JSONDecoder().decode(type, from: Data(#"{"email":"fixed","age":1}"#.utf8))
            }
        }
        let user = User(email: "a@b.c", age: 3)
        let list = try PropertyListEncoder().encode(user)
        let response = DataResponseTests.response(list)
        #expect(try response.decode(decoder: PropertyListDecoder()) == user)
        #expect(try response.decode(decoder: Fixed()) == User(email: "fixed", age: 1))
        #expect(try response.decode { $0.decoder = PropertyListDecoder() } == user)
    }

    /// A response in snake_case, with a decoder for it.
    private func snake(
        _ text: String, status: HTTPResponse.Status = .ok, _ contentType: String = "application/json"
    ) -> DataResponse {
        var response = DataResponseTests.response(text.utf8, contentType: contentType, status: status)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        response.decoder = decoder
        return response
    }

    private struct Account: Decodable, Equatable, Sendable {
        var userName: String
    }

    private struct Refusal: Decodable, Error, Equatable {
        var errorCode: Int
    }

    @Test func `the decoder of the call reads models, errors and problems, whoever asks for them`() async throws {
        let ann = Account(userName: "Ann")
        let success = snake(#"{"user_name":"Ann"}"#)
        var failure = snake(#"{"error_code":7}"#, status: .conflict)
        #expect(try success.decode() == ann)
        #expect(try success.decode { _ in } == ann)
        #expect(try success.decode(orThrow: Refusal.self) == ann)
        #expect(try ResponseReader<Account>.json.read(success) == ann)
        #expect(try ResponseReader<Account>.automatic.read(success) == ann)
        #expect(throws: Refusal(errorCode: 7)) { try failure.decode(Account.self, orThrow: Refusal.self) }
        #expect(throws: Refusal(errorCode: 7)) { try failure.validated(orThrow: Refusal.self) }
        #expect(throws: Refusal(errorCode: 7)) {
            try ResponseReader<Account>.json.orThrow(Refusal.self).read(failure)
        }
        await #expect(throws: Refusal(errorCode: 7)) {
            try await ResponseValidator.orThrow(Refusal.self).validate(&failure)
        }
        let json = #"{"title":"a","owner":{"user_name":"Ann"}}"#
        for problem in [snake(json, "application/problem+json").problem, try snake(json).decode(Problem.self)] {
            #expect(problem?["owner"] == ann)
        }
    }

    @Test func `a decoder that is named wins`() throws {
        let own = snake("{}").ownDecoder
        let snake = try #require(own as? JSONDecoder)
        var success = response(#"{"user_name":"Ann"}"#)
        success.decoder = JSONDecoder()
        #expect(throws: RequestError.self) { try success.decode(Account.self) }
        #expect(try success.decode(decoder: snake) == Account(userName: "Ann"))
        #expect(try success.decode { $0.decoder = snake } == Account(userName: "Ann"))
        var problem = response(#"{"title":"a","owner":{"user_name":"Ann"}}"#)
        problem.decoder = JSONDecoder()
        #expect(try problem.decode(Problem.self, decoder: snake)["owner"] == Account(userName: "Ann"))
        problem.status = .conflict
        problem.headerFields[.contentType] = "application/problem+json"
        let thrown = #expect(throws: Problem.self) { try problem.validated(orThrow: Problem.self, decoder: snake) }
        #expect(thrown?["owner"] == Account(userName: "Ann"))
    }

    @Test func `a failure does not quote a secret`() {
        struct Credentials: Decodable {
            enum Kind: String, Decodable { case short }
            var token: Kind
        }
        let error = #expect(throws: RequestError.self) {
            try response(#"{"token":"S3cretS3"}"#).decode(Credentials.self)
        }
        #expect("\(error as Any)".contains("token: its value does not fit"))
        #expect(!"\(error as Any)".contains("S3cretS3"))
    }

    @Test func `a failure does not quote what its call hides`() async throws {
        struct Person: Decodable {
            enum Number: String, Decodable { case none }
            var ssn: Number
        }
        try await Loopback.serving { _ in
            .json(#"{"ssn":"078-05-1120"}"#)
        } _: { server in
            let response = try await server.get {
                $0.redaction = .standard.adding("ssn")
            }
            let error = #expect(throws: RequestError.self) { try response.decode(Person.self) }
            #expect(!"\(error as Any)".contains("078"))
        }
    }

    @Test(arguments: [
        (#"{"users":[{"email":"a","age":1},{"email":"b","age":"x"}]}"#, "users[1].age"),
        (#"{"users":[{"email":"a"}]}"#, "users[0].age"),
        (#"{"users":[{"email":null,"age":1}]}"#, "users[0].email"),
        (#"{}"#, "users"),
        (#"["#, "JSON"),
        ("", ""),
        ("<html>", "JSON"),
    ])
    func `a decoding failure names request, status, type and coding path`(json: String, path: String) {
        struct Users: Decodable { var users: [User] }
        let error = #expect(throws: RequestError.self) { try response(json).decode(Users.self) }
        #expect(error?.code == .decoding)
        #expect(error?.response?.data == Data(json.utf8))
        #expect(error?.underlyingError is DecodingError)
        let text = "\(error as Any)"
        for part in ["GET https://api.example.com/users", "200", "Users", "application/json", path] {
            #expect(text.contains(part) || part.isEmpty, "\(part) is missing from: \(text)")
        }
        #expect(!text.contains("t0psecret"))
    }

    @Test func `a decoder that a call changes is its own`() throws {
        struct Page: Decodable, Equatable { var pageTitle: String }
        let response = response(#"{"page_title":"t"}"#)
        let page = try response.decode(Page.self) {
            ($0.decoder as? JSONDecoder)?.keyDecodingStrategy = .convertFromSnakeCase
        }
        #expect(page == Page(pageTitle: "t"))
        #expect(throws: RequestError.self) { try response.decode(Page.self) }
    }
}
