import Foundation
import Testing
import URLConfig

/// Segments that would lead a request to another path (RFC 3986 §5.2.4, §6.2.2.2) are refused wherever they come from.
@Suite struct PathRefusalTests {
    private static let dots = [
        ".", "..", "%2e", "%2E", "%2e%2E", ".%2e", "%2E.", "%252e", "%252e%252e", "%25252E.", ".%252E", "%%32%65",
        "%25%32e",
    ]

    private func refusal(_ path: URLRequest.Path) -> RequestError? {
        URLRequest.Config(host: "https://h.example").with { $0.path = path }.refusal
    }

    private func expectRefused(_ path: URLRequest.Path, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = refusal(path)
        #expect(error?.code == .invalidURL, "\(path)", sourceLocation: sourceLocation)
        #expect(error?.reason.hasPrefix("path ") == true, sourceLocation: sourceLocation)
    }

    @Test(arguments: dots)
    func `a dot segment is refused in a value`(dots: String) {
        expectRefused("/users/\(dots)/article")
        expectRefused("/users/\(dots)")
        expectRefused("\(dots)")
        expectRefused("\(dots)/x")
        expectRefused("/users/\(dots)?a=b")
    }

    @Test(arguments: dots)
    func `a dot segment is refused in text from run time and in raw text`(dots: String) {
        expectRefused(.init("/a/\(dots)/b"))
        expectRefused(.init(dots))
        expectRefused(.init("/a/\(dots)?b=c"))
        expectRefused("/a/\(raw: dots)/b")
        expectRefused("/a\(raw: "/" + dots)")
    }

    @Test func `a dot segment is refused in a literal`() {
        expectRefused("/a/../b")
        expectRefused("./a")
        expectRefused("/a/%2e%2E")
        expectRefused("//..//b")
    }

    @Test func `a dot segment is refused though it is put together from pieces`() {
        expectRefused("/a/\(".")\(".")/b")
        expectRefused("/a/.\(".")")
        expectRefused("/a/.\("")")
        expectRefused("/a/%2\("e")")
        expectRefused("/a/\(".")\(raw: "%2e")")
    }

    @Test func `an empty value that leaves its segment empty is refused`() {
        let empty = ""
        expectRefused("/users/\(empty)/article")
        expectRefused("/users/\(empty)")
        expectRefused("/users/\(empty)?a=b")
        expectRefused("/users/\(empty)\(empty)")
        expectRefused("\(empty)")
        expectRefused("\(empty)/users")
        expectRefused("/users/\(empty)\(raw: "/x")")
    }

    @Test func `an empty value after the first slash is refused, and never traps`() {
        let empty = ""
        expectRefused("/\(empty)/admin")
        expectRefused("/\(empty)")
        expectRefused("//\(empty)")
        expectRefused("///\(empty)")
        expectRefused("\(empty)//\(empty)/x")
    }

    @Test(arguments: ["...", "..a", ".well-known", "a.", "%2e%2e%2e", "..%2F", "%2ea", "%2", "%25", "%252", "..;"])
    func `a segment that only looks like one is not refused`(text: String) {
        #expect(refusal(.init("/a/\(text)/b")) == nil)
        #expect(refusal("/a/\(text)/b") == nil)
    }

    @Test func `the error names the segment and the path`() {
        #expect(refusal("/users/\("..")/x")?.reason.contains("'..'") == true)
        #expect(refusal("/users/\("..")/x")?.reason.contains("/users/../x") == true)
        #expect(refusal("/users/\("")/x")?.reason.contains("empty") == true)
    }

    @Test func `the error hides secrets of the query`() {
        let error = refusal("/a/../b?token=s3cret")
        #expect(error?.code == .invalidURL)
        #expect(error?.description.contains("s3cret") == false)
    }
}
