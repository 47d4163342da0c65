import Testing

@testable import URLConfig

/// Coding paths, their text and their place in a document.
@Suite struct JSONMembersTests {
    private enum Key: String, CodingKey { case password, a }
    private enum Numbered: Int, CodingKey { case name = 7 }

    @Test(
        arguments: [
            ([], "the top level"), (["users", 3, "email"], "users[3].email"), ([0, "a", 1, 2], "[0].a[1][2]"),
            (["token", "s3cret", 1, "s3cret"], "token.***[1].***"), (["a\n\u{1B}b"], #"a\n\u{1b}b"#),
            (Array(repeating: "ab", count: 60), "…" + String(repeating: ".ab", count: 40)),
        ] as [([JSONKey], String)])
    func `a path reads as Swift writes it`(path: [JSONKey], expected: String) {
        #expect((path as [any CodingKey]).text(.standard) == expected)
    }

    @Test func `names that stand in the program are no secrets`() {
        #expect(([Key.password, Key.a] as [any CodingKey]).text(.standard) == "password.a")
        #expect(([Key.password, "s3cret" as JSONKey] as [any CodingKey]).text(.standard) == "password.***")
        #expect((["password", "s3cret"] as [JSONKey] as [any CodingKey]).text(.none) == "password.s3cret")
    }

    /// A key of a dictionary such as `[Int: User]`.
    private static func key(_ number: Int) -> AnyKey {
        var key = AnyKey(stringValue: "\(number)")
        key.intValue = number
        return key
    }

    @Test(
        arguments: [
            (["users" as JSONKey, AnyKey(intValue: 7), Numbered.name], "users[7].name"),
            (["users" as JSONKey, key(7), Numbered.name], "users[7].name"), ([key(-1), key(7)], "[-1][7]"),
            (["otp" as JSONKey, AnyKey(intValue: 7), key(123456), Numbered.name], "otp[7].***.name"),
        ] as [([any CodingKey], String)])
    func `a number is an index, a key of a dictionary, or of no interest`(path: [any CodingKey], expected: String) {
        #expect(path.text(.standard) == expected)
    }

    @Test func `a very long name is cut, and hides its value`() {
        let path: [JSONKey] = [JSONKey(stringValue: String(repeating: "x", count: 1_000_000)), "s3cret"]
        #expect((path as [any CodingKey]).text(.standard) == String(repeating: "x", count: 60) + "….***")
    }

    private func value(_ path: [JSONKey], _ json: String) -> String? {
        let json = JSONTokenizer(json.utf8)
        guard let frames = json.frames(along: path), path.isEmpty || frames.count == path.count,
            let start = path.isEmpty ? json.root : frames.last?.value
        else { return nil }
        return String(decoding: json.value(at: start), as: UTF8.self)
    }

    @Test(
        arguments: [
            ([], " [1] ", "[1]"), (["a"], #"{"a":1}"#, "1"), (["a", 1], #"{"a":[1,{"b":"]"}]}"#, #"{"b":"]"}"#),
            ([2, "b", 0], #"[1,"[,",{ "b" : [ null ] }]"#, "null"), ([1], "[[1,2],[3]]", "[3]"), ([1], "[0]", nil),
            (["b"], #"{"a":1}"#, nil), (["a", "b"], #"{"a":1}"#, nil), (["a"], #"{"\u0061":1}"#, "1"),
            (["ä"], #"{"\u00e4":1}"#, "1"), (["😀"], #"{"\ud83d\ude00":1}"#, "1"), (["a\"b"], #"{"a\"b":1}"#, "1"),
            (["a"], #"{"a":1,"a":2}"#, "1"), (["viewCount"], #"{"view_count":1,"view-count":2}"#, "1"),
            (["viewCount"], #"{"view_count":1}"#, "1"),
            (["viewCount"], #"{"VIEW-COUNT":1}"#, "1"),
            (["viewCount"], #"{"view_count":1,"viewCount":2}"#, "2"),
            (["viewCount"], #"{"view_counts":1,"view_coun":2}"#, nil),
            (["userID", "viewCount"], #"{"user_id":{"view_count":3}}"#, "3"), ([""], #"{"":1}"#, "1"),
            (["_"], #"{"":1}"#, nil),
            (["a"], "[1]", nil), ([-1], "[1]", nil),
            ([0], "\u{FEFF}[5]", "5"), (["password", "a"], #"{"password":{"a":1}}"#, "1"),
        ] as [([JSONKey], String, String?)])
    func `a path leads to its value`(path: [JSONKey], json: String, expected: String?) {
        #expect(value(path, json) == expected)
    }

    @Test(
        arguments: [
            (["a"], "{", nil), (["a"], #"{"a""#, ""), (["a"], #"{"a":"#, ""), (["a", 0], #"{"a":["#, nil),
            (["a", 1], #"{"a":[1,"#, nil), (["a"], "{a:1}", nil), (["a"], #"{"a"1}"#, nil), ([0, 0, 0, 0], "[[[", nil),
            ([], "\"", "\""), ([], "", ""), ([], "}", "}"), (["a"], "{,", nil), (["a"], #"{"a":,,"#, nil),
            (["b"], #"{"a":[1 2],"b":3}"#, "3"), (["b"], #"{"a":1 "b":3}"#, nil), ([1], "[.5,1]", "1"),
        ] as [([JSONKey], String, String?)])
    func `a text that is not JSON leads somewhere inside it, or nowhere`(
        path: [JSONKey], json: String, expected: String?
    ) {
        #expect(value(path, json) == expected)
    }
}

extension JSONKey: ExpressibleByIntegerLiteral {
    /// An element, such as `[3]`.
    public init(integerLiteral index: Int) { self.init(intValue: index) }
}
