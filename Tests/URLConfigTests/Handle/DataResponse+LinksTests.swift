import FlyingFox
import Testing
import URLConfig

@Suite(.oneAtATime) struct DataResponseLinksTests {
    @Test func `pages are followed by their links`() async throws {
        try await Loopback.serving { request in
            let page = request.query.first { $0.name == "page" }.flatMap { Int($0.value) } ?? 1
            let next = page < 3 ? "<?page=\(page + 1)>; rel=\"next\", " : ""
            return .init(statusCode: .ok, headers: [HTTPHeader("Link"): next + "</items>; rel=first"], body: Data())
        } _: { server in
            var request = server.request("/items")
            var seen: [String] = []
            while true {
                let response = try await server.response(for: request)
                seen.append(response.url?.query() ?? "")
                #expect(response.links["first"]?.target.absoluteString == server.host + "/items")
                guard let next = response.links["next"] else { break }
                request.url = next.target
            }
            #expect(seen == ["", "page=2", "page=3"])
        }
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
        arguments: [
            (",", false), ("<", false), ("\"", false), (";", false), ("\\", false), ("=", false), (" ", false),
            ("</a>", false), ("</a>;", false), ("</a>;=,", false), ("</a>;x=\"", false), ("<>;rel=a,", true),
            ("<[>;rel=a,", true), ("</>;rel=a;anchor=\"/\",", true),
        ])
    func `a long field is read in linear time`(part: String, isLink: Bool) {
        let growth = growth(from: 10_000) { count in
            let parts = count / part.utf8.count
            #expect(LinkTests.links(String(repeating: part, count: parts)).count == (isLink ? parts : 0))
        }
        #expect(growth < 24)
    }

    @Test(arguments: [("x=1;", "", 1), ("rel=\"", "a b ", 1), ("title=\"", "\\\"", 0), ("title*=UTF-8''", "%41'", 0)])
    func `a long link is read in linear time`(start: String, part: String, expected: Int) {
        let growth = growth(from: 10_000) { count in
            let filling = String(repeating: part.isEmpty ? start : part, count: count / max(part.utf8.count, 4))
            let links = LinkTests.links("</a>; " + (part.isEmpty ? filling + "rel=b" : start + filling))
            #expect(links.count == expected)
            #expect(links["nowhere"] == nil)
        }
        #expect(growth < 24)
    }

    @Test func `whatever bytes come, no more than links are made of them`() {
        var random = SeededGenerator(seed: 8288)
        let parts = [
            "<", ">", ";", ",", "\"", "\\", "=", "rel", "*", " ", "\r\n", "a", "'", "%", "\u{E4}", "[", "anchor",
        ]
        for _ in 0..<3_000 {
            let field = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined()
            for link in LinkTests.links(field) {
                #expect(link.target.scheme != nil && !link.relations.isEmpty, "\(field)")
            }
        }
    }
}
