import Testing

@testable import URLConfig

/// What a download requests, and what it does with the response.
@Suite struct ResumptionTests {
    private static let url = URL(string: "https://files.example.com/a.zip")
    private static let size: Int64 = 1_000_000
    private static let tag = "\"v1\""
    private static let tagged = StrongValidator([.eTag: tag], of: url)
    private static let dated = StrongValidator(
        [.lastModified: StrongValidatorTests.modified, .date: StrongValidatorTests.later], of: url)

    private static func resumption(
        _ count: Int64 = 400_000, _ validator: StrongValidator? = tagged, total: Int64? = size
    ) -> Resumption {
        Resumption(count: count, validator: validator, total: total)
    }

    private static func fields(_ resumption: Resumption) -> [String: String]? {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        for name in ["Accept-Encoding", "Range", "If-Range"] { request.setValue("old", forHTTPHeaderField: name) }
        resumption.prepare(&request)
        return request.allHTTPHeaderFields
    }

    @Test func `the rest of a known version is requested`() {
        #expect(
            Self.fields(Self.resumption())
                == ["Accept-Encoding": "identity", "Range": "bytes=400000-", "If-Range": Self.tag])
        #expect(
            Self.fields(Self.resumption(1, Self.dated, total: nil))
                == ["Accept-Encoding": "identity", "Range": "bytes=1-", "If-Range": StrongValidatorTests.modified])
    }

    @Test func `the last byte of a complete part is requested`() {
        #expect(Self.fields(Self.resumption(Self.size))?["Range"] == "bytes=999999-")
        #expect(Self.fields(Self.resumption(1, total: 1)) == ["Accept-Encoding": "identity"])
        #expect(Self.fields(Self.resumption(.max, total: .max))?["Range"] == "bytes=9223372036854775806-")
    }

    @Test(arguments: [(0, true), (400_000, false), (size + 1, true), (-1, true)])
    func `otherwise the whole file is requested`(count: Int64, isKnown: Bool) {
        let resumption = Self.resumption(count, isKnown ? Self.tagged : nil)
        #expect(Self.fields(resumption) == ["Accept-Encoding": "identity"])
    }

    @Test(arguments: ["Range", "if-range"]) func `a request with a range of its own is refused`(name: String) {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.setValue("bytes=0-1", forHTTPHeaderField: name)
        #expect(throws: RequestError.self) { try Resumption.check(request) }
        request.setValue(nil, forHTTPHeaderField: name)
        #expect(throws: Never.self) { try Resumption.check(request) }
        request.httpMethod = "HEAD"
        #expect(throws: RequestError.self) { try Resumption.check(request) }
    }

    /// A kind of decision, without its reason.
    private static func kind(_ decision: Resumption.Decision) -> String {
        switch decision {
        case .use(from: 1..., _, let total): "append \(total ?? -1)"
        case .use(_, let validator, let total): "restart \(validator?.text ?? "-") \(total.map(String.init) ?? "-")"
        case .again: "again"
        case .refuse: "refuse"
        case .encoded(let coding): "encoded \(coding)"
        }
    }

    private static func decision(
        _ status: Int, _ fields: HTTPFields, _ resumption: Resumption = resumption(), of url: URL? = url
    ) -> String {
        kind(resumption.decision(HTTPResponse.Status(code: status), fields, of: url))
    }

    @Test(arguments: [
        "bytes 400000-999998/1000000", "bytes 400000-400000/1000000", "bytes 399999-999999/1000000",
        "bytes 400001-999999/1000000", "bytes 0-999999/1000000", "bytes 400000-1000000/1000001",
        "bytes 400000-999998/999999", "bytes 400000-1000000/*", "bytes */1000000", "items 400000-999999/1000000",
        "bytes 400000-99999999999999999999/*", "bytes 400000-999999/", "bytes 400000-999999",
        "bytes=400000-999999/1000000", "/", "bytes +400000-999999/1000000", "bytes 400000-999999/+1000000",
        "bytes\u{301} 400000-999999/1000000",
        "bytes 400000-999999/1000000" + String(repeating: "\u{301}", count: 99),
    ])
    func `a range that is not certain to be the next one is not used`(range: String) {
        #expect(Self.decision(206, [.contentRange: range, .eTag: Self.tag]) == "again")
    }

    @Test(arguments: [
        "bytes 400000-999999/1000000", "bytes 400000-999999/*", "Bytes 400000-999999/1000000",
    ])
    func `a body with the next range is used if its fields fit`(range: String) {
        let whole: HTTPFields = [.contentRange: range, .eTag: Self.tag]
        #expect(Self.decision(206, whole) == "append 1000000")
        for (name, value, isUsed) in [
            (.contentEncoding, "Identity", true), (.contentEncoding, "gzip", false), (.contentLength, "600000", true),
            (.contentLength, "599999", false), (.contentLength, "600001", false),
            (.contentType, "Multipart/ByteRanges; boundary=a", false), (.contentRange, nil, false),
        ] as [(HTTPField.Name, String?, Bool)] {
            var fields = whole
            fields[name] = value
            #expect(Self.decision(206, fields) == (isUsed ? "append 1000000" : "again"))
        }
    }

    @Test func `two Content-Ranges are contradictory`() {
        let field = HTTPField(name: .contentRange, value: "bytes 400000-999999/1000000")
        let tag = HTTPField(name: .eTag, value: Self.tag)
        #expect(Self.decision(206, HTTPFields([tag, field, field])) == "again")
        #expect(Self.decision(206, HTTPFields([tag, field])).hasPrefix("append"))
    }

    @Test(
        arguments: [
            (true, [.eTag: tag], true), (true, [.eTag: "\"v2\""], false), (true, [.eTag: "W/\"v1\""], false),
            (true, [.lastModified: StrongValidatorTests.modified], false), (true, [:], false),
            (false, [.lastModified: StrongValidatorTests.modified], true), (false, [:], false),
            (false, [.lastModified: StrongValidatorTests.later], false), (false, [.eTag: tag], false),
            (false, [.lastModified: StrongValidatorTests.modified, .eTag: tag], false),
        ] as [(Bool, HTTPFields, Bool)])
    func `a part of another version is not used`(hasTag: Bool, fields: HTTPFields, isUsed: Bool) {
        var fields = fields
        fields[.contentRange] = "bytes 400000-999999/1000000"
        let resumption = Self.resumption(400_000, hasTag ? Self.tagged : Self.dated)
        #expect(Self.decision(206, fields, resumption).hasPrefix("append") == isUsed)
        // Another server has its own versions.
        #expect(Self.decision(206, fields, resumption, of: URL(string: "https://b.example.com/a.zip")) == "again")
    }

    @Test func `a length that was unknown is learned, and needed`() {
        let resumption = Self.resumption(total: nil)
        func decision(_ range: String) -> String {
            Self.decision(206, [.contentRange: range, .eTag: Self.tag], resumption)
        }
        #expect(decision("bytes 400000-999999/1000000") == "append 1000000")
        #expect(decision("bytes 400000-999998/1000000") == "again")
        #expect(decision("bytes 400000-399999/400000") == "again")
        let longest = Int64.max
        #expect(decision("bytes 400000-\(longest - 1)/\(longest)") == "append \(longest)")
        #expect(decision("bytes 400000-\(longest)/9223372036854775808") == "again")
        #expect(decision("bytes 400000-999999/*") == "again")
    }

    @Test(
        arguments: [
            ([.eTag: tag], "restart \"v1\" 1000000"), ([.eTag: "\"v2\""], "restart \"v2\" -"), ([:], "restart - -"),
            ([.eTag: "W/\"v1\""], "restart - -"), ([.eTag: tag, .contentLength: "5"], "restart \"v1\" 5"),
            // The last chunk is the end, whatever the length was.
            ([.eTag: tag, .transferEncoding: "chunked"], "restart \"v1\" -"),
        ] as [(HTTPFields, String)])
    func `a version that is sent again has the same length`(fields: HTTPFields, decision: String) {
        #expect(Self.decision(200, fields) == decision)
        #expect(Self.decision(200, fields, Self.resumption(0)) == decision)
    }

    @Test(arguments: [("gzip", nil), ("identity", 5)] as [(String, Int64?)])
    func `an encoded body does not tell the length of its content`(coding: String, length: Int64?) {
        let fields: HTTPFields = [.contentLength: "5", .contentEncoding: coding]
        #expect(fields.decodedLength == length)
    }

    @Test(
        arguments: [
            (200, [.eTag: "\"v2\"", .contentLength: "5"], "restart \"v2\" 5"), (200, [:], "restart - -"),
            (200, [.eTag: "\"v2\"", .contentLength: "5", .contentEncoding: "br"], "encoded br"),
            (203, [.contentEncoding: "gzip"], "encoded gzip"),
            (200, [.contentEncoding: "identity", .contentLength: "5"], "restart - 5"),
            (200, [.contentEncoding: "", .contentLength: "5"], "restart - 5"),
            (200, [.contentLength: "-5"], "restart - -"), (200, [.contentLength: "+5"], "restart - -"),
            (200, [.contentLength: "99999999999999999999"], "restart - -"),
            (200, [.contentLength: "5", .transferEncoding: "chunked"], "restart - -"),
            (200, [.contentLength: "5", .transferEncoding: "Identity"], "restart - 5"),
            (200, [.eTag: "W/\"v2\"", .contentLength: "0"], "restart - 0"),
            (203, [.eTag: "\"v2\"", .contentLength: "5"], "restart - 5"),
        ] as [(Int, HTTPFields, String)])
    func `a whole file replaces the part`(status: Int, fields: HTTPFields, decision: String) {
        #expect(Self.decision(status, fields) == decision)
        #expect(Self.decision(status, fields, Resumption()) == decision)
    }

    @Test func `two lengths are contradictory, and versions that are unknown may have different lengths`() {
        let length = HTTPField(name: .contentLength, value: "5")
        #expect(Self.decision(200, HTTPFields([length, length])) == "restart - -")
        #expect(Self.decision(200, [:], Self.resumption(400_000, nil)) == "restart - -")
    }

    @Test(arguments: [200, 201, 202, 203, 204, 205, 206, 226, 299, 304, 404, 412, 416, 500])
    func `what is neither the rest nor the whole file is refused, or requested from the start`(status: Int) {
        let fields: HTTPFields = [.contentRange: "bytes 400000-999999/1000000", .contentLength: "600000"]
        #expect(Self.decision(status, fields) == ([200, 203, 206, 416].contains(status) ? "again" : "refuse"))
        // A request for the whole file is not repeated.
        #expect(Self.decision(status, fields, Resumption()) == "refuse")
    }

    @Test(arguments: [nil, size], ["bytes */400000", "bytes */399999", "bytes 0-399999/400000", ""])
    func `a range that the server does not have is requested no more`(total: Int64?, range: String) {
        #expect(Self.decision(416, [.contentRange: range], Self.resumption(total: total)) == "again")
    }
}
