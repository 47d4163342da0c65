import Foundation
import Testing

@testable import URLConfig

/// Hides secrets in URLs, queries and forms.
@Suite struct RedactionURLTests {
    @Test(arguments: [
        ("https://h.example/a?page=1", "https://h.example/a?page=1"),
        ("https://u:s3cret@h.example/a", "https://***@h.example/a"),
        ("https://s3cret@h.example", "https://***@h.example"),
        ("https://u:s3@cret@h.example:8080/@a", "https://***@h.example:8080/@a"),
        ("https://h.example/@a/b@c?d=e@f", "https://h.example/@a/b@c?d=e@f"),
        ("//u:s3cret@h.example", "//***@h.example"),
        ("https://h.example\\@s3.example", "https://***@s3.example"), ("u:s3cret@h.example", "***@h.example"),
        ("https://u:s3cret@\u{301}h.example", "https://***@\u{301}h.example"), ("/a@b/c", "/a@b/c"), ("", ""),
        ("https://h.example?token=s3cret", "https://h.example?token=***"),
        ("https://h.example/?a=1&access_token=s3cret&b=2", "https://h.example/?a=1&access_token=***&b=2"),
        ("https://h.example/?a=1#id_token=s3cret&b=2", "https://h.example/?a=1#id_token=***&b=2"),
        ("https://h.example/?token=s3cret#top", "https://h.example/?token=***#top"),
        ("https://h.example/#/page?token=s3cret", "https://h.example/#/page?token=***"),
        ("https://h.example/?user%5Btoken%5D=s3cret", "https://h.example/?user%5Btoken%5D=***"),
        ("https://h.example/?tok%65n=s3cret", "https://h.example/?tok%65n=***"),
        ("https://h.example/?token=s3cret=s3cret", "https://h.example/?token=***"),
        ("https://h.example/?token=a;s3cret?s3cret/s3cret", "https://h.example/?token=***"),
        ("https://h.example/?a=1;token=s3cret", "https://h.example/?a=1;token=***"),
        ("https://h.example/??token=s3cret&&token=s3cret", "https://h.example/??token=***&&token=***"),
        ("https://h.example/?token=\u{301}s3cret", "https://h.example/?token=***"),
        ("https://h.example/?\u{301}token=s3cret", "https://h.example/?\u{301}token=***"),
        ("https://h.example/?token", "https://h.example/?token"),
        ("https://h.example/?token=", "https://h.example/?token=***"),
        ("https://h.example/?%zztoken=s3cret", "https://h.example/?%zztoken=***"),
        ("https://h.example/\u{1B}[2J", "https://h.example/\\u{1b}[2J"),
    ])
    func `userinfo and hidden items are masked`(text: String, expected: String) {
        let shown = Redaction.standard.url(text)
        #expect(shown.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(shown)")
    }

    @Test(arguments: [
        ("user=u&password=s3cret", "user=u&password=***"), ("password=s3;cret?x#y&a=1", "password=***&a=1"),
        ("pass+word=s3cret&a=b+c", "pass+word=***&a=b+c"),
        ("password=s3cret=\u{301}&b", "password=***&b"), ("&&=&a", "&&=&a"), ("", ""),
    ])
    func `hidden items of a form are masked`(form: String, expected: String) {
        #expect(Redaction.standard.body(Data(form.utf8), .form) == expected)
        #expect(Redaction.standard.sentBody(Data(form.utf8), .form) == Data(expected.utf8))
    }

    @Test func `a form without a content type is one all the same`() {
        // Foundation sends a body without a content type as a form.
        let form = Data("user=u&password=s3cret&x=1".utf8)
        #expect(Redaction.standard.body(form, nil) == "user=u&password=***&x=1")
        #expect(Redaction.standard.sentBody(form, nil) == Data("user=u&password=***&x=1".utf8))
    }

    @Test func `a text that is all delimiters takes time in proportion`() {
        let text = String(repeating: "?&;#=", count: 40_000)
        #expect(Redaction.standard.url(text) == text)
    }
}
