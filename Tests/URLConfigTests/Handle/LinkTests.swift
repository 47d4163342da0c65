import Testing
import URLConfig

/// Links: RFC 8288, and malformed links that servers send.
@Suite struct LinkTests {
    private static let url = "https://api.example.com/v2/articles?page=2"

    static func links(_ fields: String..., url: String = url) -> [DataResponse.Link] {
        let link = HTTPField.Name("Link").map { name in fields.map { HTTPField(name: name, value: $0) } }
        return DataResponse(
            request: .with { $0.host = "https://other.example.com" }, url: URL(string: url),
            headerFields: HTTPFields(link ?? [])
        ).links
    }

    @Test func `it is shown without secrets`() {
        let links = Self.links("<https://u:s3cret@a.example/?token=s3cret&page=2>; rel=\"next last\"; title=s3cret")
        #expect("\(links)" == #"[<https://***@a.example/?token=***&page=2>; rel="next last"]"#)
    }

    private static func shown(_ links: [DataResponse.Link]) -> [String] {
        links.map { "\($0.target) \($0.relations.joined(separator: ","))" }
    }

    @Test(
        arguments: [
            ("<https://a.example/>; rel=next", ["https://a.example/ next"]),
            ("<https://a.example/>;rel=\"next\"", ["https://a.example/ next"]),
            (" < https://a.example/ > ; REL = \"next\" ; ", ["https://a.example/ next"]),
            (
                "</a>; rel=\"next prev\thttps://x.example/R\"",
                ["https://api.example.com/a next,prev,https://x.example/r"]
            ),
            (
                "<a>; rel=next, <b>; rel=last",
                ["https://api.example.com/v2/a next", "https://api.example.com/v2/b last"]
            ),
            ("<?page=3>; rel=next", ["https://api.example.com/v2/articles?page=3 next"]),
            ("<>; rel=self", ["https://api.example.com/v2/articles?page=2 self"]),
            ("<//b.example/?a=1,2;b=3>; rel=up", ["https://b.example/?a=1,2;b=3 up"]),
            ("</a>; title=\"a, <b>; rel=no\"; rel=next", ["https://api.example.com/a next"]),
            ("</a>; title=\"\\\"\\\\\"; rel=next", ["https://api.example.com/a next"]),
            ("</a>; rel=next; rel=prev", ["https://api.example.com/a next"]),
            (
                ", ,</a>; rel=next,,</b>; rel=prev, ,",
                ["https://api.example.com/a next", "https://api.example.com/b prev"]
            ),
            ("</a>;;; rel=next;", ["https://api.example.com/a next"]),
            (
                "</a>\r\n ; rel=next,\r\n\t</b>\r\n\t; rel=prev",
                [
                    "https://api.example.com/a next", "https://api.example.com/b prev",
                ]
            ),
            (
                "</a>; rel=\"next\" junk; x=1, </b>; rel=prev",
                [
                    "https://api.example.com/a next", "https://api.example.com/b prev",
                ]
            ),
            ("https://no.example/; rel=next, </b>; rel=prev", ["https://api.example.com/b prev"]),
            ("</a> junk; rel=no, </b>; rel=prev", ["https://api.example.com/b prev"]),
            ("</a>; title=\"open, </b>; rel=prev", []), ("</a>; rel=\"next", ["https://api.example.com/a next"]),
            ("</a", []), ("<", []), ("</a>", []), ("</a>; rel", []), ("</a>; rel=\" \"", []), ("</a>; =next", []),
            ("", []),
            ("<http://[>; rel=next, <//a:b/>; rel=next, </b>; rel=prev", ["https://api.example.com/b prev"]),
            ("<\u{E4}>; rel=next", ["https://api.example.com/v2/%C3%A4 next"]),
        ] as [(String, [String])])
    func `a field is read`(field: String, links: [String]) {
        #expect(Self.shown(Self.links(field)) == links)
    }

    @Test func `parameters have their names in lower case, and the first of one name is used`() {
        let link = Self.links(
            "</a>; rel=next; Title=\"one; two, three\"; title=four; hreflang=de; hreflang=\"en-GB\"; media = print ;"
                + "type=\"text/html; charset=utf-8\"; flag; rel=prev"
        ).first
        #expect(link?.parameters["title"] == "one; two, three")
        #expect(link?.parameters["hreflang"] == "de")
        #expect(link?.parameters["type"] == "text/html; charset=utf-8")
        #expect(link?.parameters["media"] == "print")
        #expect(link?.parameters["flag"] == "")
        #expect(link?.parameters["rel"] == "next")
    }

    @Test func `the first link of a relation is found, in any case`() {
        let links = Self.links(
            "</1>; rel=first, </3>; rel=\"NEXT https://x.example/Rel\"", "</4>; rel=next, </9>; rel=describedby")
        #expect(links["next"]?.target.path() == "/3")
        #expect(links["Next"]?.target.path() == "/3")
        #expect(links["https://X.example/REL"]?.target.path() == "/3")
        #expect(links["prev"] == nil)
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
        if let name = HTTPField.Name("Link") {
            response.headerFields[name] = "</a>; rel=next, <https://b.example/>; rel=next"
        }
        #expect(Self.shown(response.links) == ["https://b.example/ next"])
    }
}
