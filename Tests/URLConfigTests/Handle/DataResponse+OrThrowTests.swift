import FlyingFox
import Testing

@testable import URLConfig

@Suite struct DataResponseOrThrowTests {
    private struct User: Decodable, Equatable {
        var name: String
    }

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

    private struct Upside: ResponseDecoder {
        func decode<Model: Decodable>(_ type: Model.Type, from data: Data) throws -> Model {
            try JSONDecoder().decode(type, from: Data(data.reversed()))
        }
    }

    private func response(_ text: String, _ status: Int) -> DataResponse {
        DataResponseTests.response(
            text.utf8, contentType: "application/json", status: .init(integerLiteral: status))
    }

    @Test(arguments: [200, 201, 299])
    func `on success the model is decoded`(status: Int) throws {
        let response = response(#"{"name": "Ann", "code": "no error"}"#, status)
        let user: User = try response.decode(orThrow: APIError.self)
        #expect(user == User(name: "Ann"))
        #expect(try response.decode(User.self, orThrow: APIError.self) == user)
        #expect(try response.validated(orThrow: APIError.self).data == response.data)
    }

    @Test func `on success a content that is no model is a decoding failure`() {
        let error = #expect(throws: RequestError.self) {
            try response(#"{"code": "no model"}"#, 200).decode(User.self, orThrow: APIError.self)
        }
        #expect(error?.code == .decoding)
    }

    @Test(arguments: [199, 300, 304, 400, 404, 500, 599])
    func `on any other status the API's own error is thrown`(status: Int) {
        let response = response(#"{"name": "Ann", "code": "out of stock"}"#, status)
        #expect(throws: APIError(code: "out of stock")) { try response.decode(User.self, orThrow: APIError.self) }
        #expect(throws: APIError(code: "out of stock")) { try response.validated(orThrow: APIError.self) }
    }

    @Test(arguments: ["", "<html>blocked</html>", #"{"message": "other"}"#, #"{"code": 7, "token": "S3cretS3"}"#])
    func `what is no such error is an unacceptable status with all that is known`(text: String) {
        let response = response(text, 502)
        let error = #expect(throws: RequestError.self) { try response.decode(User.self, orThrow: APIError.self) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data(text.utf8))
        #expect(error?.underlyingError is DecodingError)
        for part in ["answered 502: that status is not", "APIError", "\(text.utf8.count) B of application/json"] {
            #expect("\(error as Any)".contains(part), "\(part) is missing from: \(error as Any)")
        }
        #expect(!"\(error as Any)".contains("S3cret"))
    }

    @Test func `model and error are read by the decoder that the call names`() throws {
        let user = response(#"{"Name":"Ann"}"#, 200)
        let failure = response(#"{"Code":"a"}"#, 409)
        for var response in [user, failure] {
            // A decoder that is passed wins over that of the response.
            response.decoder = Upside()
            let decode = { try response.decode(User.self, orThrow: APIError.self, decoder: .lowercase) }
            if response.isSuccess {
                #expect(try decode() == User(name: "Ann"))
                #expect(throws: RequestError.self) { try response.decode(User.self, orThrow: APIError.self) }
            } else {
                #expect(throws: APIError(code: "a")) { try decode() }
                #expect(throws: APIError(code: "a")) {
                    try response.validated(orThrow: APIError.self, decoder: .lowercase)
                }
                #expect(throws: RequestError.self) { try response.decode(User.self, orThrow: APIError.self) }
            }
        }
    }

    @Test(arguments: ["decode", "validated", "validator", "reader"])
    func `an error that asks for it takes the response, whoever throws it`(how: String) async throws {
        try await Loopback.serving { _ in
            var response = Loopback.Response.json(#"{"code": "slow down", "response": 1}"#, status: .tooManyRequests)
            response.headers[HTTPHeader("Retry-After")] = "7"
            return response
        } _: { server in
            let request = server.request()
            let error = await #expect(throws: Limited.self) {
                switch how {
                case "reader":
                    let typed = TypedRequest<User>(request, reader: .json.orThrow(Limited.self))
                    _ = try await server.session.value(for: typed) { $0.logger = nil }
                case "validator":
                    try await server.response(for: request) {
                        $0.validators = [.orThrow(Limited.self)]
                    }
                default:
                    let response = try await server.response(for: request)
                    if how == "decode" { _ = try response.decode(User.self, orThrow: Limited.self) }
                    try response.validated(orThrow: Limited.self)
                }
            }
            #expect(error?.code == "slow down")
            #expect(error?.response?.status == .tooManyRequests)
            #expect(error?.response?.retryAfter == .seconds(7))
            #expect(error?.response?.data.isEmpty == false)
            #expect(error?.response?.attempts.count == 1)
        }
    }

    @Test func `problem details are such an error, other content is not`() {
        let problem = DataResponseTests.response("{}".utf8, contentType: "application/problem+json", status: .conflict)
        let thrown = #expect(throws: Problem.self) { try problem.validated(orThrow: Problem.self) }
        #expect(thrown?.status == .conflict)
        #expect(throws: RequestError.self) { try response("{}", 409).validated(orThrow: Problem.self) }
    }

    @Test func `problem details are JSON for every decoder`() throws {
        let content = #"{"title": "No", "owner": "Ann"}"#.utf8
        var response = DataResponseTests.response(content, contentType: "application/problem+json", status: .conflict)
        response.decoder = PropertyListDecoder()
        let thrown = #expect(throws: Problem.self) { try response.validated(orThrow: Problem.self) }
        #expect(thrown?.title == "No")
        let problem = try response.decode(Problem.self, decoder: JSONDecoder())
        #expect(problem["owner"] == "Ann")
        #expect(try response.decode(Problem.self).title == "No")
    }

    @Test func `the validator throws it from the call`() async throws {
        try await Loopback.serving { request in
            switch request.path {
            case "/none": .json(#"{"code": "out of stock"}"#, status: .conflict)
            case "/page": .status(.badGateway, "<html>")
            default: .json(#"{"name": "Ann"}"#)
            }
        } _: { server in
            func user(_ path: URLRequest.Path, _ validator: ResponseValidator) async throws -> User {
                let request = server.request(path)
                return try await server.response(for: request) {
                    $0.validators = [validator]
                }.decode()
            }
            let validator = ResponseValidator.orThrow(APIError.self)
            let ann = try await user("/ann", validator)
            #expect(ann == User(name: "Ann"))
            await #expect(throws: APIError(code: "out of stock")) { try await user("/none", validator) }
            let error = await #expect(throws: RequestError.self) { try await user("/page", validator) }
            #expect(error?.code == .unacceptableStatus)
        }
    }
}

extension JSONDecoder {
    fileprivate static var lowercase: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in
            JSONKey(stringValue: path.last?.stringValue.lowercased() ?? "")
        }
        return decoder
    }
}
