import Testing
import URLConfig
import URLConfigTesting

@Suite(.inTime) struct DataResponseTests {
    static func response(
        _ data: some Sequence<UInt8>, contentType: String? = nil, status: Status = .ok
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
            ("", [], "text/html; charset=gb2312"),
            ("ä", [0xE4], "text/plain; charset=ISO-8859-1"), ("€", [0x80], "text/html; charset=\"windows-1252\""),
            ("\u{201C}\u{81}", [0x93, 0x81], "text/plain; charset=windows-1252"),
            ("ä", [0xC3, 0xA4], "text/plain; charset=utf-8"),
            ("Aä", [0x41, 0x00, 0xE4, 0x00], "text/plain; charset=utf-16le"),
            ("Aä", [0xFF, 0xFE, 0x41, 0x00, 0xE4, 0x00], "text/plain; charset=utf-8"),
            ("ä", [0xEF, 0xBB, 0xBF, 0xC3, 0xA4], "text/plain; charset=ISO-8859-1"),
            ("あ", [0x82, 0xA0], "text/plain; charset=Shift_JIS"),
            ("“ä”", [0x93, 0xE4, 0x94], "text/plain; charset=ISO-8859-1"),
            ("\u{81}", [0x81], "text/plain; charset=us-ascii"),
            ("h", [0xFF, 0xFE, 0, 0, 0x68, 0, 0, 0], "text/plain; charset=utf-32"),
            ("", [], "text/plain; charset=utf-8"), ("", [0xFF, 0xFE], nil),
            // Only the first mark is one; another is a character.
            ("\u{FEFF}a", [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x61], nil),
            ("\u{FEFF}\u{FEFF}", [0xFF, 0xFE, 0xFF, 0xFE, 0xFF, 0xFE], nil),
            ("a\u{FEFF}", [0xFE, 0xFF, 0, 0x61, 0xFE, 0xFF], "text/plain; charset=utf-16"),
            // The last character is cut.
            (nil, [0x61, 0, 0x62], "text/plain; charset=utf-16le"), (nil, [0, 0x61, 0], "text/plain; charset=utf-16"),
            (nil, [0xFF, 0xFE, 0x61, 0, 0x62], nil), (nil, [0x61, 0, 0], "text/plain; charset=utf-16be"),
            (nil, [0, 0, 0, 0x61, 0], "text/plain; charset=utf-32"),
            (nil, [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61, 0, 0], nil),
            (nil, [0xC3], nil), (nil, [0xC3, 0x28], "text/plain; charset=utf-8"),
            (nil, [0x41], "text/plain; charset=klingon"),
        ] as [(String?, [UInt8], String?)])
    func `text is read in its character set, and an invalid one is an error with the response`(
        text: String?, bytes: [UInt8], contentType: String?
    ) throws {
        let response = Self.response(bytes, contentType: contentType)
        if let text { return #expect(try Array(response.text().utf8) == Array(text.utf8)) }
        #expect(expectThrown(.decoding) { try response.text() }?.response?.data == Data(bytes))
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x61], nil, "\(String.Encoding.utf16LittleEndian)"),
            ([0xFF, 0xFE, 0x61], "text/plain; charset=utf-8", "\(String.Encoding.utf16LittleEndian)"),
            ([0xEF, 0xBB, 0xBF, 0xC3], "text/plain; charset=latin1", "\(String.Encoding.utf8)"),
            ([0xC3], nil, "utf-8"), ([0x61], "text/plain; charset=UTF-16", "UTF-16"),
            ([0x61], "text/plain; charset=klingon", "klingon"),
        ] as [([UInt8], String?, String)])
    func `the error about a text names the character set in which it was read`(
        bytes: [UInt8], contentType: String?, name: String
    ) {
        let error = expectThrown(.decoding) { try Self.response(bytes, contentType: contentType).text() }
        #expect(error?.reason == "the content is not text in the character set \(name)")
    }

    @Test(arguments: [.utf16LittleEndian, .utf16, .utf32BigEndian] as [String.Encoding])
    func `text of an encoding that the caller names is an error, too, if its last character is cut`(
        encoding: String.Encoding
    ) throws {
        let data = try #require("ab".data(using: encoding))
        #expect(try Self.response(data).text(encoding: encoding) == "ab")
        expectThrown(.decoding) { try Self.response(data.dropLast()).text(encoding: encoding) }
    }

    @Test(
        arguments: [
            (.utf8, [0xEF, 0xBB, 0xBF, 0x61]), (.utf16, [0xFF, 0xFE, 0x61, 0]),
            (.utf16LittleEndian, [0xFF, 0xFE, 0x61, 0]), (.utf16BigEndian, [0xFE, 0xFF, 0, 0x61]),
            (.utf32LittleEndian, [0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0]),
        ] as [(String.Encoding, [UInt8])])
    func `a byte order mark is removed in each encoding that the caller names`(
        encoding: String.Encoding, bytes: [UInt8]
    ) throws {
        #expect(try Array(Self.response(bytes).text(encoding: encoding).utf8) == [0x61])
    }

    @Test func `all bytes are text in windows-1252`() throws {
        #expect(try Self.response([0x93, 0x81]).text(encoding: .windowsCP1252) == "\u{201C}\u{81}")
    }

    @Test func `a body is shown without secrets, the text is as it was`() throws {
        let json = #"{"user":{"name":"Ann","password":"t0psecret"}}"#
        let response = Self.response(json.utf8, contentType: "application/json")
        #expect(!response.bodyString.contains("t0psecret"))
        #expect(response.bodyString.contains(#""name" : "Ann""#))
        #expect(try response.text() == json)
        #expect(Self.response([0, 1], contentType: "image/png").bodyString == "<2 bytes image/png>")
    }

    @Test(
        arguments: [
            ([404], true), ([.ok, .notFound], true), ([Status(code: 404, reasonPhrase: "Away")], true),
            ([200, 405], false), ([], false),
        ] as [(Set<Status>, Bool)])
    func `one of the statuses is accepted`(statuses: Set<Status>, isAccepted: Bool) {
        let response = Self.response([], status: .notFound)
        if isAccepted {
            #expect(throws: Never.self) { try response.validated(status: statuses) }
        } else {
            expectThrown(.unacceptableStatus) { try response.validated(status: statuses) }
        }
    }

    @Test func `checks chain, and refuse with the whole response`() throws {
        let response = Self.response("{}".utf8, contentType: "application/json", status: .notFound)
        #expect(!response.isSuccess && response.status.kind == .clientError)
        #expect(try response.validated(status: [404]).validated(contentType: .json).decode([String: Int].self) == [:])
        let status = expectThrown(.unacceptableStatus) { try response.validated() }
        let type = expectThrown(.unacceptableContentType) { try response.validated(contentType: .html) }
        for error in [status, type] {
            #expect(error?.response?.status == .notFound)
            #expect(error?.response?.data == Data("{}".utf8))
        }
        #expect(type?.reason == "content type is application/json, expected text/html")
        #expect(response.hasContentType(.json) && !response.hasContentType(.html))
        let twice = Self.response("{}".utf8, contentType: "application/json, application/json")
        #expect(twice.hasContentType(.json))
        #expect(!Self.response("{}".utf8, contentType: "application/json, text/html").hasContentType(.json))
        let list = "multipart/mixed; boundary=\"a, b, c\""
        #expect(Self.response("".utf8, contentType: list).contentType?.parameters["boundary"] == "a, b, c")
    }

    @Test func `a content type is refused without its secrets`() {
        let response = Self.response([], contentType: "text/html; token=abcdef123456")
        let error = expectThrown(.unacceptableContentType) { try response.validated(contentType: .json) }
        #expect(error?.reason == "content type is text/html; token=***, expected application/json")
    }

    // The errors of a response.

    @Test(
        arguments: [
            (#"{"code":"missing","message":"No such note"}"#, "; the content says “No such note”"),
            (#"{"a":1}"#, ""), ("", ""), ("{", ""), ("gone", "; the content says “gone”"),
            ("password=s3cret", "; the content says “password=***”"),
            (#"{"message":"password=s3cret"}"#, "; the content says “password=***”"),
            ("<html><title>Not Found</title>", "; the content is an HTML page titled “Not Found”"),
            ("<html>", "; the content is an HTML page"), ("<a/>", ""), ("\u{1}\u{2}", ""),
            (String(repeating: "a", count: 1025), ""),
        ])
    func `an error reads like a sentence, which shows what a refused response says`(content: String, words: String) {
        let response = Self.response(content.utf8, status: .gone)
        let error = #expect(throws: RequestError.self) { try response.validated() }
        let reason = "the status is not accepted" + words
        #expect(error?.reason == reason && error?.localizedDescription == reason)
        let target = "GET https://api.example.com/users?token=***"
        #expect("\(error as Any)".contains("unacceptableStatus: \(target) (410): \(reason)"))
        let latin = Self.response([0x5A, 0xEB], contentType: "text/plain; charset=iso-8859-1", status: .gone)
        #expect(expectThrown(.unacceptableStatus) { try latin.validated() }?.reason.hasSuffix(" says “Zë”") == true)
    }

    @Test func `the error of a refused problem has all of it, and Retry-After`() {
        let problem = #"{"title":"Busy","detail":"Too many calls.","instance":"/calls/7"}"#
        var response = Self.response(
            problem.utf8, contentType: "application/problem+json", status: .tooManyRequests)
        response.headerFields[.retryAfter] = "7"
        let error = #expect(throws: RequestError.self) { try response.validated() }
        let words = "429 Busy: Too many calls. (https://api.example.com/calls/7)”; Retry-After is 7.0 s"
        #expect(error?.reason == "the status is not accepted; the content says “" + words)
    }

    @Test func `a 401 says if the request has no credentials`() throws {
        let words = "; the request itself has no credentials"
        var response = Self.response([], status: .unauthorized)
        response.request = .with(.init(host: "https://api.example.com/v1?page=1"))
        let anonymous = #expect(throws: RequestError.self) { try response.validated() }
        #expect(anonymous?.reason == "the status is not accepted" + words)
        response.request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
        let refused = #expect(throws: RequestError.self) { try response.validated() }
        #expect(refused?.reason == "the status is not accepted")
        response.request = .with(.init(host: "https://api.example.com/v1?key=k3y-0123456789"))
        let keyed = #expect(throws: RequestError.self) { try response.validated() }
        #expect(keyed?.reason == "the status is not accepted")
    }

    @Test func `a 401 names the origins if the credentials of a preset were left out`() {
        for preset: (inout URLRequest.Config) -> Void in [
            { $0.authorization = .bearer("t") }, { $0.headers[.authorization] = "Bearer t" },
        ] {
            var response = Self.response([], status: .unauthorized)
            response.request = .with(.init(host: "https://preset.example/v1", preset)) {
                $0.url = URL(string: "https://left-out.example:8443/1")
            }
            let error = #expect(throws: RequestError.self) { try response.validated() }
            let words =
                "; the request itself has no credentials; the preset's may have been left out, because "
                + "https://left-out.example:8443 is another origin than https://preset.example:443"
            #expect(error?.reason == "the status is not accepted" + words)
            response.request.url?.append(path: "other")
            let other = #expect(throws: RequestError.self) { try response.validated() }
            #expect(other?.reason == "the status is not accepted; the request itself has no credentials")
        }
    }

    @Test func `a header field of any length is cut`() {
        let long = String(repeating: "x", count: 10_000)
        let type = expectThrown(.unacceptableContentType) {
            try Self.response([], contentType: long).validated(contentType: .json)
        }
        let charset = expectThrown(.decoding) {
            try Self.response([0xFF], contentType: "text/plain; charset=\(long)").text()
        }
        for error in [type, charset] { #expect("\(error as Any)".utf8.count < 300) }
    }

    @Test(.stubs { $0.get("/", .text("[]", status: .notFound)) })
    func `the errors of a response hide the secrets of the call`() async throws {
        let request = stubs.request { $0.query["ssn"] = "t0psecret" }
        let response = try await stubs.response(for: request) { $0.redaction = .standard.adding("ssn") }
        #expect("\(response)" == "404 GET https://api.test?ssn=***, 2 B of text/plain")
        #expect(!String(reflecting: response).contains("t0psecret"))
        for error in [
            expectThrown(.unacceptableStatus) { try response.validated() },
            expectThrown(.decoding) { try response.decode(Int.self) },
        ] {
            #expect("\(error as Any)".contains("ssn=***"))
            #expect(!String(reflecting: error).contains("t0psecret"))
        }
    }

    @Test func `an app adds its own codes`() {
        let error = RequestError(
            .maintenance, reason: "closed until noon", response: Self.response([]))
        #expect(error.code == .maintenance)
        #expect(error.request?.url?.host() == "api.example.com")
        #expect("\(error)".contains("closed until noon"))
    }
}

extension RequestError.Code {
    fileprivate static let maintenance = Self(rawValue: "maintenance")
}
