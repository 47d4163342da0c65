import FlyingFox
import Testing

@testable import URLConfig

/// The elements of all pages.
@Suite(.timeLimit(.minutes(10))) struct PagesValuesTests {
    private struct Article: Decodable, Equatable, Sendable {
        let articleID: Int
    }

    private struct Envelope: Decodable {
        let items: [Article]
    }

    /// Serves pages with these contents; an empty one has the status 204.
    private func serving(
        _ contents: [String], _ body: (Loopback, _ requests: @escaping @Sendable () -> Int) async throws -> Void
    ) async throws {
        let requests = Locked(0)
        try await Loopback.serving { request in
            requests.withLock { $0 += 1 }
            let page = request.query["page"].flatMap { Int($0) } ?? 0
            var response = contents[page].isEmpty ? Loopback.Response.status(.noContent) : .json(contents[page])
            if page + 1 < contents.count { response.headers[.init("Link")] = "<?page=\(page + 1)>; rel=next" }
            return response
        } _: { server in
            try await body(server) { requests.withLock { $0 } }
        }
    }

    @Test func `arrays, with the decoder of the call; empty pages are skipped`() async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { _ in AnyKey(stringValue: "articleID") }
        let contents = ["[]", #"[{"id":1},{"id":2}]"#, "[]", "", "[]", #"[{"id":3}]"#, "[]"]
        try await serving(contents) { server, requests in
            var articles: [Article] = []
            for try await article in server.pages({ $0.decoder = decoder }).values(of: [Article].self) {
                articles.append(article)
            }
            #expect(articles == [1, 2, 3].map(Article.init))
            #expect(requests() == 7)
        }
    }

    @Test func `envelopes, by a key path or a function`() async throws {
        try await serving([#"{"items":[{"articleID":1}]}"#, "", #"{"items":[{"articleID":2}]}"#]) { server, _ in
            let pages = server.pages()
            let found = try await pages.values(of: Envelope.self, \.items).all
            #expect(found == [1, 2].map(Article.init))
            let numbers = pages.values(of: Envelope.self) { $0.items.map(\.articleID) }
            // Each loop begins with the first page.
            for _ in 0..<2 {
                let found = try await numbers.all
                #expect(found == [1, 2])
            }
        }
    }

    @Test func `a page is requested when its first element is wanted`() async throws {
        try await serving(["[1,2]", "[3]", "[4]"]) { server, requests in
            var needed: [Int] = []
            for try await value in server.pages().values(of: [Int].self) {
                needed.append(requests())
                if value == 3 { break }
            }
            #expect(needed == [1, 1, 2])
            #expect(requests() == 2)
        }
    }

    @Test func `content that cannot be decoded is an error, after which nothing comes`() async throws {
        try await serving(["[1]", #"{"a":1}"#, "[3]"]) { server, requests in
            let (values, thrown) = await server.pages().values(of: [Int].self).outcome
            let error = thrown as? RequestError
            #expect(values == [1])
            #expect(error?.code == .decoding)
            #expect(error?.response?.url?.query() == "page=1")
            #expect(requests() == 2)
        }
    }

    @Test func `only 204 and 205 may be without content`() async throws {
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            let error = await #expect(throws: RequestError.self) {
                try await server.pages().values(of: [Int].self).all
            }
            #expect(error?.code == .decoding)
        }
    }

    @Test func `cancelled between two elements of a page`() async throws {
        try await serving(["[1,2]", "[3]"]) { server, requests in
            let task = Task {
                var iterator = server.pages().values(of: [Int].self).makeAsyncIterator()
                let first = try await iterator.next()
                withUnsafeCurrentTask { $0?.cancel() }
                let second = await Result(of: { try await iterator.next() })
                return (first, second, try await iterator.next())
            }
            let (first, second, third) = try await task.valueInTime
            #expect(first == 1)
            #expect(throws: CancellationError.self) { try second.get() }
            #expect(third == nil)
            #expect(requests() == 1)
        }
    }
}

struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
