import Testing
import URLConfigTesting

@testable import URLConfig

/// The elements of all pages.
@Suite(.inTime) struct PagesValuesTests {
    private struct Article: Decodable, Equatable, Sendable {
        let articleID: Int
    }

    private struct Envelope: Decodable {
        let items: [Article]
    }

    @Test(.stubs { $0.contents("[]", #"[{"id":1},{"id":2}]"#, "[]", "", "[]", #"[{"id":3}]"#, "[]") })
    func `arrays, with the decoder of the call; empty pages are skipped`() async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { _ in AnyKey(stringValue: "articleID") }
        var articles: [Article] = []
        for try await article in stubs.pages({ $0.decoder = decoder }).values(of: [Article].self) {
            articles.append(article)
        }
        #expect(articles == [1, 2, 3].map(Article.init))
        #expect(HTTPStubs.requests.count == 7)
    }

    @Test(.stubs { $0.contents(#"{"items":[{"articleID":1}]}"#, "", #"{"items":[{"articleID":2}]}"#) })
    func `envelopes, by a key path or a function`() async throws {
        let pages = stubs.pages()
        let found = try await pages.values(of: Envelope.self, \.items).all
        #expect(found == [1, 2].map(Article.init))
        let numbers = pages.values(of: Envelope.self) { $0.items.map(\.articleID) }
        // Each loop begins with the first page.
        for _ in 0..<2 {
            let found = try await numbers.all
            #expect(found == [1, 2])
        }
    }

    @Test(.stubs { $0.contents("[1,2]", "[3]", "[4]") })
    func `a page is requested when its first element is wanted`() async throws {
        var needed: [Int] = []
        for try await value in stubs.pages().values(of: [Int].self) {
            needed.append(HTTPStubs.requests.count)
            if value == 3 { break }
        }
        #expect(needed == [1, 1, 2])
        #expect(HTTPStubs.requests.count == 2)
    }

    @Test(.stubs { $0.contents("[1]", #"{"a":1}"#, "[3]") })
    func `content that cannot be decoded is an error, after which nothing comes`() async throws {
        let (values, thrown) = await stubs.pages().values(of: [Int].self).outcome
        let error = thrown as? RequestError
        #expect(values == [1])
        #expect(error?.code == .decoding)
        #expect(error?.response?.url?.query() == "page=1")
        #expect(HTTPStubs.requests.count == 2)
    }

    @Test(.stubs { $0.get("/articles") }) func `only 204 and 205 may be without content`() async throws {
        await expectError(.decoding) { try await stubs.pages().values(of: [Int].self).all }
    }

    @Test(.stubs { $0.contents("[1,2]", "[3]") }) func `cancelled between two elements of a page`() async throws {
        let task = Task {
            var iterator = stubs.pages().values(of: [Int].self).makeAsyncIterator()
            let first = try await iterator.next()
            withUnsafeCurrentTask { $0?.cancel() }
            let second = await Result(of: { try await iterator.next() })
            return (first, second, try await iterator.next())
        }
        let (first, second, third) = try await task.valueInTime
        #expect(first == 1)
        #expect(throws: CancellationError.self) { try second.get() }
        #expect(third == nil)
        #expect(HTTPStubs.requests.count == 1)
    }
}

extension HTTPStubs.Routes {
    /// Adds pages with these contents; an empty one has the status 204.
    fileprivate func contents(_ contents: String...) {
        get("/articles") { request in
            let page = request.query.first?.value.flatMap { Int($0) } ?? 0
            let response = contents[page].isEmpty ? .status(.noContent) : HTTPStubs.Response.json(contents[page])
            guard page + 1 < contents.count else { return response }
            return response.field(.init("Link")!, "<?page=\(page + 1)>; rel=next")
        }
    }
}
