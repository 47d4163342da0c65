import Testing
import URLConfig

@Suite struct RequestErrorTests {
    @Test func `it reads like a sentence, without secrets`() {
        let response = DataResponseTests.response("gone".utf8, status: .gone)
        let error = #expect(throws: RequestError.self) { try response.validated() }
        let text = "\(error.map(String.init(describing:)) ?? "")"
        #expect(text.contains("unacceptableStatus"))
        #expect(text.contains("GET https://api.example.com/users?token=***"))
        #expect(text.contains("410"))
        #expect(error?.localizedDescription == text)
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
