import Testing

@testable import URLConfig

/// The text of coding paths.
@Suite struct CodingKeyPathTests {
    private enum Key: String, CodingKey { case password, a }

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

    @Test func `a very long name is cut, and hides what is under it`() {
        let path: [JSONKey] = [JSONKey(stringValue: String(repeating: "x", count: 1_000_000)), "s3cret"]
        #expect((path as [any CodingKey]).text(.standard) == String(repeating: "x", count: 60) + "….***")
    }
}

extension JSONKey: ExpressibleByIntegerLiteral {
    /// An element, such as `[3]`.
    public init(integerLiteral index: Int) { self.init(intValue: index) }
}
