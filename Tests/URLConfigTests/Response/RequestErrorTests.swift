import FlyingFox
import Testing
import URLConfig

@Suite struct RequestErrorTests {
    @Test func `it reads like a sentence, without secrets`() {
        let response = DataResponseTests.response("gone".utf8, status: .gone)
        let error = #expect(throws: RequestError.self) { try response.validated() }
        let text = "\(error.map(String.init(describing:)) ?? "")"
        #expect(text.contains("unacceptableStatus"))
        #expect(text.contains("GET https://api.example.com/users?token=***"))
        #expect(text.contains("status 410 is not one of those accepted"))
        #expect(error?.localizedDescription == text)
    }

    @Test func `what a call hides, the errors of its response hide`() async throws {
        try await Loopback.serving { _ in
            .status(.notFound, "[]")
        } _: { server in
            let request = URLRequest.with(server.config) { $0.query["ssn"] = "t0psecret" }
            let response = try await server.session.response(for: request) { $0.redaction = .standard.adding("ssn") }
            #expect("\(response)".hasPrefix("404 GET http://127.0.0.1:"))
            #expect("\(response)".hasSuffix("?ssn=***, 2 B of text/plain"))
            #expect(!String(reflecting: response).contains("t0psecret"))
            for check in [
                { try response.validated() },
                {
                    _ = try response.decode(Int.self)
                    return response
                },
            ] {
                let error = #expect(throws: RequestError.self) { _ = try check() }
                #expect("\(error as Any)".contains("ssn=***"))
                #expect(!String(reflecting: error).contains("t0psecret"))
            }
        }
    }

    @Test func `an app adds its own codes`() {
        let error = RequestError(
            .maintenance, stage: .validating, reason: "closed until noon", response: DataResponseTests.response([]))
        #expect(error.code == .maintenance)
        #expect(error.request?.url?.host() == "api.example.com")
        #expect("\(error)".contains("closed until noon"))
    }
}

extension RequestError.Code {
    fileprivate static let maintenance = Self(rawValue: "maintenance")
}
