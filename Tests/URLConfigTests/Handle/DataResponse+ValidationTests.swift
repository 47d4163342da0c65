import Testing
import URLConfig

@Suite struct DataResponseValidationTests {
    private let response = DataResponseTests.response([], contentType: "text/html", status: .notFound)

    @Test(
        arguments: [
            ([404], true), ([.ok, .notFound], true), ([HTTPResponse.Status(code: 404, reasonPhrase: "Away")], true),
            ([200, 405], false), ([], false),
        ] as [(Set<HTTPResponse.Status>, Bool)])
    func `one of the statuses is accepted`(statuses: Set<HTTPResponse.Status>, isAccepted: Bool) {
        let result = Result { try response.validated(status: statuses) }
        #expect(((try? result.get()) != nil) == isAccepted)
        if case .failure(let error) = result { #expect((error as? RequestError)?.code == .unacceptableStatus) }
    }

    @Test func `checks chain, and refuse with the whole response`() throws {
        try response.validated(status: [404]).validated(contentType: .html)
        let error = #expect(throws: RequestError.self) { try response.validated(contentType: .json) }
        #expect(error?.code == .unacceptableContentType)
        #expect(error?.response?.status == .notFound)
        #expect(error?.reason == "content type is text/html, expected application/json")
    }
}
