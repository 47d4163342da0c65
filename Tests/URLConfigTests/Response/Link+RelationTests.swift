import Testing
import URLConfig

@Suite struct LinkRelationTests {
    private let links = LinkTests.links(
        "</1>; rel=first, </3>; rel=\"NEXT https://x.example/rel\"", "</4>; rel=next, </9>; rel=describedby")

    @Test func `the first link of a relation is found, whatever the case`() {
        #expect(links[.next]?.target.path() == "/3")
        #expect(links["Next"]?.target.path() == "/3")
        #expect(links["https://X.example/REL"]?.target.path() == "/3")
        #expect(links[.describedBy]?.target.path() == "/9")
        #expect(links[.prev] == nil)
        #expect(links.filter { $0.relations.contains(.next) }.count == 2)
        #expect(links[0].relations == [.first])
    }

    @Test func `a relation of an app's own is a URL`() {
        #expect(DataResponse.Link.Relation("https://x.example/Rel").url?.absoluteString == "https://x.example/Rel")
        #expect(DataResponse.Link.Relation.next.url == nil)
        #expect(Set(["next", "NEXT"] as [DataResponse.Link.Relation]).count == 1)
        #expect("\(DataResponse.Link.Relation("NEXT"))" == "NEXT")
    }
}
