import Testing

@testable import URLConfig

/// Links: RFC 8288, and malformed links that servers send.
@Suite(.inTime) struct LinkTests {
    private static let url = "https://api.example.com/v2/articles?page=2"

    static func links(_ fields: String..., url: String = url) -> [DataResponse.Link] {
        DataResponse(
            request: .with { $0.host = "https://other.example.com" }, url: URL(string: url),
            headerFields: HTTPFields(fields.map { HTTPField(name: HTTPField.Name("Link")!, value: $0) })
        ).links
    }

    private static func shown(_ links: [DataResponse.Link]) -> [String] {
        links.map { "\($0.target) \($0.relations.joined(separator: ","))" }
    }

    /// Without a scheme and a host, a target is one of `https://api.example.com`.
    @Test(
        arguments: [
            ("<https://a.example/>; rel=next", ["https://a.example/ next"]),
            ("<https://a.example/>;rel=\"next\"", ["https://a.example/ next"]),
            (" < https://a.example/ > ; REL = \"next\" ; ", ["https://a.example/ next"]),
            ("</a>; rel=\"next prev\thttps://x.example/R\"", ["/a next,prev,https://x.example/r"]),
            ("<a>; rel=next, <b>; rel=last", ["/v2/a next", "/v2/b last"]),
            ("<?page=3>; rel=next", ["/v2/articles?page=3 next"]), ("<>; rel=self", ["/v2/articles?page=2 self"]),
            ("<//b.example/?a=1,2;b=3>; rel=up", ["https://b.example/?a=1,2;b=3 up"]),
            ("</a>; title=\"a, <b>; rel=no\"; rel=next", ["/a next"]),
            ("</a>; title=\"\\\"\\\\\"; rel=next", ["/a next"]), ("</a>; rel=next; rel=prev", ["/a next"]),
            (", ,</a>; rel=next,,</b>; rel=prev, ,", ["/a next", "/b prev"]), ("</a>;;; rel=next;", ["/a next"]),
            ("</a>\r\n ; rel=next,\r\n\t</b>\r\n\t; rel=prev", ["/a next", "/b prev"]),
            ("</a>; rel=\"next\" junk; x=1, </b>; rel=prev", ["/a next", "/b prev"]),
            ("https://no.example/; rel=next, </b>; rel=prev", ["/b prev"]),
            ("</a> junk; rel=no, </b>; rel=prev", ["/b prev"]), ("</a>; title=\"open, </b>; rel=prev", []),
            ("</a>; rel=\"next", ["/a next"]), ("</a", []), ("<", []), ("</a>", []), ("</a>; rel", []),
            ("</a>; rel=\" \"", []), ("</a>; =next", []), ("", []),
            ("<http://[>; rel=next, <//a:b/>; rel=next, </b>; rel=prev", ["/b prev"]),
            ("<\u{E4}>; rel=next", ["/v2/%C3%A4 next"]),
        ] as [(String, [String])])
    func `a field is read`(field: String, links: [String]) {
        let expected = links.map { $0.hasPrefix("/") ? "https://api.example.com" + $0 : $0 }
        #expect(Self.shown(Self.links(field)) == expected)
    }

    @Test func `parameters have their names in lower case, and the first of one name is used`() {
        let link = Self.links(
            "</a>; rel=next; Title=\"one; two, three\"; title=four; hreflang=de; hreflang=\"en-GB\"; media = print ;"
                + "type=\"text/html; charset=utf-8\"; flag; rel=prev"
        ).first
        let expected = [
            "title": "one; two, three", "hreflang": "de", "type": "text/html; charset=utf-8", "media": "print",
            "flag": "", "rel": "next",
        ]
        #expect(link?.parameters == expected)
    }

    @Test func `the first link of a relation is found, in any case, and shown without secrets`() {
        let links = Self.links(
            "</1>; rel=first, </3>; rel=\"NEXT https://x.example/Rel\"", "</4>; rel=next, </9>; rel=describedby")
        #expect(links["next"]?.target.path() == "/3")
        #expect(links["Next"]?.target.path() == "/3")
        #expect(links["https://X.example/REL"]?.target.path() == "/3")
        #expect(links["prev"] == nil)
        let secret = Self.links("<https://u:s3cret@a.example/?token=s3cret&page=2>; rel=\"next last\"; title=s3cret")
        #expect("\(secret)" == #"[<https://***@a.example/?token=***&page=2>; rel="next last"]"#)
        #expect(links.map(\.relations) == [["first"], ["next", "https://x.example/rel"], ["next"], ["describedby"]])
    }

    @Test func `a link of another resource is not taken for one of the response`() {
        let links = Self.links(
            "</a>; rel=next; anchor=\"/other\", </b>; rel=next; anchor=\"#part\", </c>; rel=next; anchor=\"\"",
            "</d>; rel=next; anchor=\"http://[\"", url: Self.url + "#top")
        #expect(links.map(\.anchor?.relativeString) == ["https://api.example.com/other", Self.url + "#part", nil])
        #expect(links["next"]?.target.path() == "/c")
    }

    @Test func `without a URL of the response only absolute targets are links`() {
        var response = DataResponse(request: URLRequest.with { $0.host = "https://a.example" })
        response.url = nil
        response.headerFields[HTTPField.Name("Link")!] = "</a>; rel=next, <https://b.example/>; rel=next"
        #expect(Self.shown(response.links) == ["https://b.example/ next"])
    }

    @Test(.urlSessionOnly) func `several fields, one of them folded, are all read`() async throws {
        // If field names differ in case, Foundation on Linux keeps one of the fields.
        let fields = "Link: </a>; rel=next\r\nX: y\r\nLink: </b>;\r\n\trel=last"
        try await FaultServer.serving(.fieldLine(fields)) { server in
            let response = try await server.get()
            #expect(response.links.map { $0.target.path() } == ["/a", "/b"])
        }
    }

    @Test(
        .oneAtATime,
        arguments: [
            (",", "", 0), ("<", "", 0), ("\"", "", 0), (";", "", 0), ("\\", "", 0), ("=", "", 0), (" ", "", 0),
            ("</a>", "", 0), ("</a>;", "", 0), ("</a>;=,", "", 0), ("</a>;x=\"", "", 0), ("<>;rel=a,", "", nil),
            ("<[>;rel=a,", "", nil), ("</>;rel=a;anchor=\"/\",", "", nil),
            ("x=1;", "</a>; rel=b; ", 1), ("a b ", "</a>; rel=\"", 1), ("\\\"", "</a>; title=\"", 0),
            ("%41'", "</a>; title*=UTF-8''", 0),
        ] as [(String, String, Int?)])
    func `a long field of many parts is read in linear time`(part: String, start: String, expected: Int?) {
        expectLinearTime(from: 10_000) { count in
            let parts = count / part.utf8.count
            let links = Self.links(start + String(repeating: part, count: parts))
            // Without a number, each part is a link.
            #expect(links.count == expected ?? parts)
            #expect(links["nowhere"] == nil)
        }
    }

    @Test func `links that contain a long URL take linear time`() {
        expectLinearTime(from: 20_000) { count in
            let url = "https://api.example.com/" + String(repeating: "a", count: count) + "/b"
            let links = Self.links(String(repeating: "<c>; rel=a,", count: count / 10), url: url)
            #expect(links.count >= 100)
        }
    }

    @Test func `random fields do not crash, and give only links`() {
        var random = SeededGenerator(seed: 8288)
        let parts = [
            "<", ">", ";", ",", "\"", "\\", "=", "rel", "*", " ", "\r\n", "a", "'", "%", "\u{E4}", "[", "anchor",
        ]
        for _ in 0..<3_000 {
            let field = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined()
            for link in Self.links(field) {
                #expect(link.target.scheme != nil && !link.relations.isEmpty, "\(field)")
            }
        }
    }
}
