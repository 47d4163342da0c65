import Testing
import URLConfig

@Suite struct DataResponseTests {
    static func response(
        _ data: some Sequence<UInt8>, contentType: String? = nil, status: HTTPResponse.Status = .ok
    ) -> DataResponse {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        let request = URLRequest.with(.init(host: "https://api.example.com")) {
            $0.path = "/users"
            $0.query["token"] = "t0psecret"
        }
        return DataResponse(request: request, status: status, headerFields: fields, data: Data(data))
    }

    @Test(
        arguments: [
            ("plain UTF-8: ä€😀", [UInt8]("plain UTF-8: ä€😀".utf8), nil),
            ("ä", [0xE4], "text/plain; charset=ISO-8859-1"),
            ("€", [0x80], "text/html; charset=\"windows-1252\""),
            ("\u{201C}\u{81}", [0x93, 0x81], "text/plain; charset=windows-1252"),
            ("ä", [0xC3, 0xA4], "text/plain; charset=utf-8"),
            ("Aä", [0x41, 0x00, 0xE4, 0x00], "text/plain; charset=utf-16le"),
            ("Aä", [0xFF, 0xFE, 0x41, 0x00, 0xE4, 0x00], "text/plain; charset=utf-8"),
            ("ä", [0xEF, 0xBB, 0xBF, 0xC3, 0xA4], "text/plain; charset=ISO-8859-1"),
            ("あ", [0x82, 0xA0], "text/plain; charset=Shift_JIS"),
            ("“ä”", [0x93, 0xE4, 0x94], "text/plain; charset=ISO-8859-1"),
            ("\u{81}", [0x81], "text/plain; charset=us-ascii"),
            ("h", [0xFF, 0xFE, 0, 0, 0x68, 0, 0, 0], "text/plain; charset=utf-32"),
            ("", [], "text/plain; charset=utf-8"),
        ] as [(String, [UInt8], String?)])
    func `text is read in its character set`(text: String, bytes: [UInt8], contentType: String?) throws {
        #expect(try Self.response(bytes, contentType: contentType).text() == text)
    }

    @Test(
        arguments: [
            ([0xC3], nil), ([0xC3, 0x28], "text/plain; charset=utf-8"),
            ([0x41], "text/plain; charset=klingon"),
        ] as [([UInt8], String?)])
    func `what is no text says so`(bytes: [UInt8], contentType: String?) {
        let response = Self.response(bytes, contentType: contentType)
        let error = #expect(throws: RequestError.self) { try response.text() }
        #expect(error?.code == .decoding)
        #expect(error?.response?.data == Data(bytes))
    }

    @Test func `status checks chain`() throws {
        let response = Self.response("{}".utf8, contentType: "application/json", status: .notFound)
        #expect(!response.isSuccess)
        #expect(response.status.kind == .clientError)
        #expect(try response.validated(status: [404]).validated(contentType: .json).decode([String: Int].self) == [:])
        let error = #expect(throws: RequestError.self) { try response.validated() }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == .notFound)
        #expect(error?.response?.data == Data("{}".utf8))
    }

    @Test(
        arguments: [
            ("application/json", "application/json; charset=utf-8", true),
            ("application/json; charset=utf-8", "application/json;charset=UTF-8", true),
            ("application/json; charset=utf-8", "application/json", false),
            ("application/json", "application/problem+json", false),
            ("text/*", "text/html", true),
            ("image/*", "text/html", false),
            ("Application/JSON", "application/json", true),
        ] as [(MediaType, String, Bool)])
    func `content types match with and without parameters`(type: MediaType, found: String, matches: Bool) {
        #expect(Self.response([], contentType: found).hasContentType(type) == matches)
    }

    @Test func `a body is shown without secrets, the text is as it was`() throws {
        let json = #"{"user":{"name":"Ann","password":"t0psecret"}}"#
        let response = Self.response(json.utf8, contentType: "application/json")
        #expect(!response.bodyString.contains("t0psecret"))
        #expect(response.bodyString.contains(#""name" : "Ann""#))
        #expect(try response.text() == json)
        #expect(Self.response([0, 1], contentType: "image/png").bodyString == "<2 bytes image/png>")
    }
}
