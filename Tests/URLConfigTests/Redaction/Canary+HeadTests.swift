import Testing

@testable import URLConfig

/// Canaries in URLs and header fields.
///
/// An item or a field is hidden by its name, and a credential with a known shape under any name. Cookies and userinfo
/// are always hidden.
@Suite struct CanaryHeadTests {
    /// URLs with an item: in the query, in the fragment, and in a URL that is an item itself.
    private static let urls: [@Sendable (_ item: String) -> String] = [
        { "https://h.example/a?b=1&\($0)&c=2" }, { "https://h.example/a#\($0)&c=2" },
        { "https://h.example/a?next=" + "https://h.example/?\($0)&b=1".percentEncoded(.unreserved) + "&c=2" },
    ]

    @Test(arguments: urls.indices) func `a canary in an item of a URL is hidden by the item's name`(index: Int) {
        for name in CanaryTests.names + ["key", "code"] {
            let url = Self.urls[index](CanaryTests.item(name))
            let hidden = Self.urls[index]("\(CanaryTests.name(name))=***").replacing("%2A%2A%2A", with: "***")
            #expect(Redaction.standard.url(url) == hidden)
            #expect(Redaction.standard.masked(field: "Referer", url) == hidden)
        }
    }

    @Test func `a canary in a header field is hidden by the field's name`() {
        for name in CanaryTests.names {
            #expect(Redaction.standard.masked(field: name, CanaryTests.canary) == "***", "\(name)")
            // A name with brackets is not the name of a field.
            guard let field = HTTPField.Name(name) else { continue }
            let fields: HTTPFields = [field: CanaryTests.canary]
            #expect(Redaction.standard.masked(fields) == ["\(name): ***"])
        }
    }

    @Test func `cookies are hidden, whatever their names are`() {
        for name in CanaryTests.names + ["theme"] {
            let value = "a=b; \(CanaryTests.item(name)); Path=/"
            let fields: HTTPFields = [.cookie: value, .setCookie: value]
            #expect(Redaction.standard.masked(fields) == ["Cookie: ***", "Set-Cookie: ***"])
        }
    }

    @Test(arguments: [CanaryTests.canary] + CanaryTests.shapes) func `the userinfo of a URL is hidden`(secret: String) {
        let encoded = secret.percentEncoded(.unreserved)
        for userinfo in [encoded, "ann:\(encoded)", "\(encoded):pass"] {
            #expect(Redaction.standard.url("https://\(userinfo)@h.example/a?b=1") == "https://***@h.example/a?b=1")
        }
    }

    @Test(arguments: CanaryTests.shapes)
    func `a credential with a known shape is hidden in URLs and header fields of any name`(shape: String) {
        let item = "page=\(shape.percentEncoded(.unreserved))"
        let shown =
            Self.urls.map { Redaction.standard.url($0(item)) }
            + ["X-Note", "Cookie", "Set-Cookie"].map { Redaction.standard.masked(field: $0, shape) }
        for text in shown {
            #expect(text.contains("***") && !text.contains(CanaryTests.secret(in: shape)), "\(text)")
        }
    }
}
