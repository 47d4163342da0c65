import Testing

@testable import URLConfig

/// Decisions about values that no server should send.
@Suite struct CachePolicyTests {
    private let now = 1_800_000_000.0
    private let key = Digest.Key.known
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }

    private func head(_ fields: HTTPFields, at time: Double? = nil) -> StoredResponse.Head {
        CachePolicy.head(.ok, fields, to: request, key, requested: time ?? now, received: time ?? now)
    }

    private func refusal(_ fields: HTTPFields) -> String? {
        CachePolicy.refusal(head(fields), to: request, keepsStale: false)
    }

    /// RFC 3986 §6.2.2 and §6.2.3.
    @Test(arguments: [
        ("https://api.test/a?b=@:/#", "https://api.test/a?b=@:/"), ("https://api.test/a?b=%7e@:/", nil),
        ("http://127.0.0.1/", nil), ("HTTP://Api.Test", "http://api.test/"),
        ("https://api.test?x", "https://api.test/?x"), ("https://xn--0.test:443/a", "https://xn--0.test/a"),
        ("https://xn--1.test:444/a", nil), ("https://api.test:443/a", "https://api.test/a"),
        ("http://api.test:443/", nil), ("http://[::1]:8080/a", nil), ("http://api.test:8080/a", nil),
        ("http://api.test:8080/a#b", "http://api.test:8080/a"), ("http://u:8080@api.test/a", "http://api.test/a"),
        ("http://api.test:08080/a", "http://api.test:8080/a"), ("http://api.test:80/a", "http://api.test/a"),
        ("https://api.test:80/a", nil), ("http://api.test:/a", "http://api.test/a"),
        ("https://u:p@api.test/a#b", "https://api.test/a"), ("https://api.TEST/A", "https://api.test/A"),
    ])
    func `URLs of one resource are equal`(_ text: String, _ normalized: String?) throws {
        #expect(try #require(URL(string: text)).normalized == normalized ?? text)
    }

    @Test func `a Vary with a thousand names is not stored`() {
        let names = (0..<1000).map { "N\($0)" }.joined(separator: ",")
        #expect(refusal([.cacheControl: "max-age=60", .vary: names]) == "Vary")
        #expect(refusal([.cacheControl: "max-age=60", .vary: "A, b"]) == nil)
    }

    /// What the fields say, and for how many seconds the response is fresh.
    @Test(arguments: [
        ("max-age=1e9", 0.0), ("max-age=-1", 0), ("max-age", 0), ("max-age=\"60\"", 60), ("max-age=60 1", 0),
        ("max-age=4294967296", 2_147_483_648), ("max-age=60, max-age=30", 30), ("max-age=60, max-age=x", 0),
        ("MAX-AGE=060", 60), (",,max-age=60,,", 60), ("x=\"max-age=99\", max-age=60", 60), ("max-age =60", 0),
    ]) func `the stricter value counts`(control: String, lifetime: Double) {
        #expect(head([.cacheControl: control]).lifetime == lifetime)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1953 00:00:00 GMT", 0.0), ("Fri, 31 Dec 9999 23:59:59 GMT", 251_602_300_799),
        ("Sat, 01 Jan 10000 00:00:00 GMT", 0), ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Friday, 15-Jan-27 08:01:00 GMT", 60), ("Fri Jan 15 08:01:00 2027", 60), ("Fri, 15 Jan 2027 08:01:00 UTC", 0),
        ("Fri, 15 Jan 2027 8:01:00 GMT", 0), ("Fri,  15 Jan 2027 08:01:00 GMT", 0), ("0", 0), ("", 0),
        ("Fri, 31 Feb 2027 08:01:00 GMT", 0), ("Fri, 15 jan 2027 08:01:00 gmt", 60),
    ]) func `a date that cannot be read is in the past`(expires: String, lifetime: Double) {
        let date = Date(timeIntervalSince1970: now).httpDate
        var fields: HTTPFields = [.expires: expires]
        fields[.date] = date
        #expect(date == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(head(fields).lifetime == lifetime)
    }

    @Test(arguments: [
        ("-1", 0.0), ("1.5", 0), ("5, 7", 5), ("7, 5", 7), ("x, 5", 0), ("99999999999999999999", 2_147_483_648),
        ("", 0),
    ]) func `the first age counts, if it is one`(age: String, expected: Double) {
        #expect(CachePolicy.age(of: head([.age: age, .cacheControl: "max-age=9"]), at: now) == expected)
    }

    @Test func `a clock that goes back makes everything stale, and no time traps`() {
        let old = head([.cacheControl: "max-age=60"])
        #expect(CachePolicy.use(old, for: request, at: now - 1) == .validate)
        for time in [-1e18, -62_135_596_801, 0, 253_402_300_800, 1e18] {
            let head = head([.cacheControl: "max-age=60"], at: time)
            #expect(CachePolicy.use(head, for: request, at: time) == .fresh)
            #expect(CachePolicy.use(head, for: request, at: time + 1e6) == .validate)
        }
    }

    @Test func `two entity tags are no condition, and a strong one that is new updates nothing`() {
        var fields: HTTPFields = [.cacheControl: "no-cache", .lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"]
        fields.append(HTTPField(name: .eTag, value: "\"1\""))
        fields.append(HTTPField(name: .eTag, value: "\"2\""))
        var conditional = request
        CachePolicy.addConditions(head(fields), to: &conditional)
        #expect(conditional.value(forHTTPHeaderField: "If-None-Match") == nil)
        #expect(conditional.value(forHTTPHeaderField: "If-Modified-Since") == "Thu, 01 Jan 2026 00:00:00 GMT")
        for (tag, isUpdated) in [("\"1\"", false), ("W/\"1\"", true)] {
            let stored = head([.lastModified: "Thu, 01 Jan 2026 00:00:00 GMT"])
            let new = CachePolicy.updated(
                stored, by: .notModified, [.eTag: tag], to: request, key, requested: now, received: now)
            #expect((new != nil) == isUpdated, "\(tag)")
        }
    }

    @Test func `a validation does not add fields without a limit`() {
        func fields(_ name: String) -> HTTPFields {
            HTTPFields(received: (1..<HTTPFields.most).lazy.map { (name: "\(name)\($0)", value: "x") })
        }
        for (name, isUpdated) in [("A", true), ("B", false)] {
            let new = CachePolicy.updated(
                head(fields("A")), by: .notModified, fields(name), to: request, key, requested: now, received: now)
            #expect((new != nil) == isUpdated)
        }
    }

    @Test(arguments: [
        HTTPField.Name.vary, .connection, .contentLength, .contentEncoding, .transferEncoding, .eTag, .lastModified,
        .age,
    ])
    func `combining marks take linear time`(name: HTTPField.Name) {
        expectLinearTime(from: 4000) { count in
            // Swift sorts them before it compares or hashes a text.
            let marks = String(repeating: "\u{301}\u{316}", count: count / 4)
            let fields: HTTPFields = [name: "W/\(marks), i\(marks)"]
            let stored = head(fields)
            _ = CachePolicy.refusal(stored, to: request, keepsStale: true)
            _ = fields.isEncoded
            _ = CachePolicy.age(of: stored, at: now)
            let new: HTTPFields = [name: "W/\(marks), j\(marks)"]
            _ = CachePolicy.updated(stored, by: .ok, new, to: request, key, requested: now, received: now)
        }
    }

    @Test func `names in Vary and Connection that are not ASCII name no field`() {
        #expect(CachePolicy.refusal(head([.vary: "Accept, \u{E4}"]), to: request, keepsStale: true) == "Vary")
        let stored = head([.connection: "\u{E4}, X-Hop", .contentLength: "1", HTTPField.Name("X-Hop")!: "x"])
        #expect(stored.fields[HTTPField.Name("X-Hop")!] == nil && stored.fields[.contentLength] == "1")
    }

    @Test func `many fields and directives take linear time`() {
        expectLinearTime(from: 1000) { count in
            let fields = HTTPFields(
                (0..<count).compactMap { HTTPField.Name("X-\($0)").map { HTTPField(name: $0, value: "x") } })
            let stored = head(fields)
            let new = CachePolicy.updated(
                stored, by: .notModified, fields, to: request, key, requested: now, received: now)
            #expect(new?.fields.count == stored.fields.count)
        }
        for text in ["a,", "max-age=1,", "\"", "x=\"", ",", " ", "no-cache=\"a\\", "=", "Connection,"] {
            expectLinearTime(from: 2000) { count in
                let text = String(repeating: text, count: count)
                _ = head([.cacheControl: text, .vary: text, .connection: text, .age: text, .expires: text, .date: text])
            }
        }
    }

    @Test func `Connection does not take away what forbids to store`() {
        let fields: HTTPFields = [.cacheControl: "no-store", .connection: "cache-control, vary, x", .vary: "*"]
        #expect(refusal(fields) == "no-store")
    }

    @Test func `a head of a store that no cache can have made is not used`() {
        var head = head([.cacheControl: "max-age=60"])
        #expect(head.isValid)
        head.status = 1000
        #expect(!head.isValid)
        (head.status, head.received) = (200, .nan)
        #expect(!head.isValid)
    }
}
