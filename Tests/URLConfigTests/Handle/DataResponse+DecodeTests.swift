import Testing
import URLConfigTesting

@testable import URLConfig

@Suite(.inTime) struct DataResponseDecodeTests {
    @Test(arguments: [204, 205])
    func `no content is nil, if the value may be nil`(status: Int) throws {
        let response = DataResponseTests.response([], status: .init(integerLiteral: status))
        let value = try response.decode([Int]?.self)
        #expect(value == nil)
        let error = #expect(throws: RequestError.self) { try response.decode([Int].self) }
        #expect(error?.reason.hasSuffix("the content is empty; decode an optional, which is nil then") == true)
        #expect(throws: RequestError.self) { try DataResponseTests.response([]).decode([Int]?.self) }
        let odd = DataResponseTests.response("{".utf8, status: .noContent)
        #expect(throws: RequestError.self) { try odd.decode([Int]?.self) }
    }

    private struct User: Codable, Equatable {
        var email: String
        var age: Int
    }

    private func response(_ text: String, _ status: Int = 200) -> DataResponse {
        DataResponseTests.response(text.utf8, contentType: "application/json", status: .init(integerLiteral: status))
    }

    /// A response in snake_case, with a decoder for it.
    private func snake(
        _ text: String, status: Status = .ok, _ contentType: String = "application/json"
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

    @Test func `the decoder of the call reads models, errors and problems, in every function`() async throws {
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
        var failure = response(#"{"error_code":7}"#, 409)
        failure.decoder = JSONDecoder()
        #expect(throws: RequestError.self) { try failure.decode(Account.self, orThrow: Refusal.self) }
        for decode in [
            { _ = try failure.decode(Account.self, orThrow: Refusal.self, decoder: snake) },
            { try failure.validated(orThrow: Refusal.self, decoder: snake) },
        ] as [() throws -> Void] {
            #expect(throws: Refusal(errorCode: 7)) { try decode() }
        }
        #expect(try success.decode(Account.self, orThrow: Refusal.self, decoder: snake) == Account(userName: "Ann"))
    }

    @Test func `a failure does not quote a secret, even one that only its call hides`() async throws {
        struct Person: Decodable {
            enum Text: String, Decodable { case none }
            var token: Text?
            var ssn: Text?
        }
        for (json, secret) in [(#"{"token":"S3cretS3"}"#, "S3cretS3"), (#"{"ssn":"078-05-1120"}"#, "078")] {
            let response = try await stubs.get(.json(json)) { $0.redaction = .standard.adding("ssn") }
            let error = expectThrown(.decoding) { try response.decode(Person.self) }
            #expect("\(error as Any)".contains(": its value does not fit"))
            #expect(!"\(error as Any)".contains(secret))
        }
    }

    @Test(arguments: [
        (#"{"users":[{"email":"a","age":1},{"email":"b","age":"x"}]}"#, "users[1].age"),
        (#"{"users":[{"email":"a"}]}"#, "users[0].age"), (#"{"users":[{"email":null,"age":1}]}"#, "users[0].email"),
        (#"{}"#, "users"), (#"["#, "JSON"), ("", ""), ("<html>", "JSON"),
    ])
    func `a decoding failure names request, status, type and coding path`(json: String, path: String) {
        struct Users: Decodable { var users: [User] }
        let error = expectThrown(.decoding) { try response(json).decode(Users.self) }
        #expect(error?.response?.data == Data(json.utf8))
        #expect(error?.underlyingError is DecodingError)
        let text = "\(error as Any)"
        for part in ["GET https://api.example.com/users", "200", "Users", "application/json", path] {
            #expect(text.contains(part) || part.isEmpty, "\(part) is missing from: \(text)")
        }
        #expect(!text.contains("t0psecret"))
    }

    @Test func `any decoder fits, and one that a call changes is changed for this call only`() throws {
        struct Fixed: ResponseDecoder {
            func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
                try JSONDecoder().decode(type, from: Data(#"{"email":"fixed","age":1}"#.utf8))
            }
        }
        let user = User(email: "a@b.c", age: 3)
        let list = DataResponseTests.response(try PropertyListEncoder().encode(user))
        #expect(try list.decode { $0.decoder = Fixed() } == User(email: "fixed", age: 1))
        #expect(try list.decode { $0.decoder = PropertyListDecoder() } == user)
        let response = response(#"{"user_name":"Ann"}"#)
        let account = try response.decode(Account.self) {
            ($0.decoder as? JSONDecoder)?.keyDecodingStrategy = .convertFromSnakeCase
        }
        #expect(account == Account(userName: "Ann"))
        #expect(throws: RequestError.self) { try response.decode(Account.self) }
    }

    // The error of an API instead of the model.

    private struct Name: Decodable, Equatable { var name: String }

    private struct APIError: Decodable, Error, Equatable {
        var code: String
    }

    /// An error that takes the response.
    private struct Limited: Decodable, ResponseError {
        let code: String
        private(set) var response: DataResponse?

        private enum CodingKeys: CodingKey { case code }

        mutating func take(from response: DataResponse) { self.response = response }
    }

    @Test(arguments: [199, 200, 299, 300, 304, 400, 404, 500, 599])
    func `on success the model is decoded, on any other status the API's own error is thrown`(status: Int) throws {
        let response = response(#"{"name": "Ann", "code": "out of stock"}"#, status)
        guard response.isSuccess else {
            #expect(throws: APIError(code: "out of stock")) { try response.decode(Name.self, orThrow: APIError.self) }
            #expect(throws: APIError(code: "out of stock")) { try response.validated(orThrow: APIError.self) }
            return
        }
        #expect(try response.decode(orThrow: APIError.self) == Name(name: "Ann"))
        #expect(try response.validated(orThrow: APIError.self).data == response.data)
        let other = self.response(#"{"code": "no model"}"#, status)
        expectThrown(.decoding) { try other.decode(Name.self, orThrow: APIError.self) }
    }

    @Test(arguments: ["", "<html>blocked</html>", #"{"message": "other"}"#, #"{"code": 7, "token": "S3cretS3"}"#])
    func `content that is not such an error gives an unacceptable status, with all that is known`(text: String) {
        let response = response(text, 502)
        let error = expectThrown(.unacceptableStatus) { try response.decode(Name.self, orThrow: APIError.self) }
        #expect(error?.response?.data == Data(text.utf8))
        #expect(error?.underlyingError is DecodingError)
        for part in ["(502): the status is not", "APIError", "\(text.utf8.count) B of application/json"] {
            #expect("\(error as Any)".contains(part), "\(part) is missing from: \(error as Any)")
        }
        #expect(!"\(error as Any)".contains("S3cret"))
    }

    @Test(
        .stubs {
            let refusal = #"{"code": "slow down", "response": 1}"#
            $0.get("/", .json(refusal, status: .tooManyRequests).field(.retryAfter, "7"))
        }, arguments: ["decode", "validated", "validator", "reader"])
    func `an error that asks for it takes the response, whoever throws it`(how: String) async throws {
        let error = await #expect(throws: Limited.self) {
            switch how {
            case "reader":
                let typed = TypedRequest<Name>(stubs.request(), reader: .json.orThrow(Limited.self))
                _ = try await stubs.session.value(for: typed) { $0.logger = nil }
            case "validator":
                try await stubs.get { $0.validators = [.orThrow(Limited.self)] }
            default:
                let response = try await stubs.get()
                if how == "decode" { _ = try response.decode(Name.self, orThrow: Limited.self) }
                try response.validated(orThrow: Limited.self)
            }
        }
        #expect(error?.code == "slow down")
        #expect(error?.response?.status == .tooManyRequests)
        #expect(error?.response?.retryAfter == .seconds(7))
        #expect(error?.response?.data.isEmpty == false)
        #expect(error?.response?.attempts.count == 1)
    }

    @Test func `problem details are such an error and JSON for every decoder, other content is not`() throws {
        let content = #"{"title": "No", "owner": "Ann"}"#.utf8
        var response = DataResponseTests.response(content, contentType: "application/problem+json", status: .conflict)
        response.decoder = PropertyListDecoder()
        let thrown = #expect(throws: Problem.self) { try response.validated(orThrow: Problem.self) }
        #expect(thrown?.title == "No" && thrown?.status == .conflict)
        #expect(try response.decode(Problem.self, decoder: JSONDecoder())["owner"] == "Ann")
        #expect(try response.decode(Problem.self).title == "No")
        let empty = DataResponseTests.response("{}".utf8, contentType: "application/problem+json", status: .conflict)
        #expect(throws: Problem.self) { try empty.validated(orThrow: Problem.self) }
        #expect(throws: RequestError.self) { try self.response("{}", 409).validated(orThrow: Problem.self) }
    }
}
