import Testing
import URLConfigTesting

@testable import URLConfig

extension HTTPStubs.Routes {
    /// Adds `/articles?page=1` and so on, with a link to the next page, and the content `[1]`, `[2]` and so on.
    func pages(_ count: Int, status: @escaping @Sendable (Int) async throws -> Status = { _ in .ok }) {
        get("/articles") { request in
            let number = request.query.first?.value.flatMap { Int($0) } ?? 1
            let status = try await status(number)
            let text = status == .ok ? "[\(number)]" : #"{"message":"page \#(number)"}"#
            let page = HTTPStubs.Response.json(text, status: status)
            return number < count ? page.field(.init("Link")!, "<?page=\(number + 1)>; rel=\"next\"") : page
        }
    }
}

extension TestServer {
    /// The pages of a request, with the server's session and without a log.
    func pages(
        for request: URLRequest? = nil, _ configure: (inout URLSession.Config) -> Void = { _ in },
        next: (@Sendable (DataResponse) throws -> URLRequest?)? = nil
    ) -> Pages {
        session.pages(for: request ?? self.request("/articles"), config: .silent, configure, next: next)
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// All elements.
    var all: [Element] {
        get async throws {
            let (elements, error) = await outcome
            if let error { throw error }
            return elements
        }
    }

    /// All elements before the end or an error, after which nothing may come.
    var outcome: (elements: [Element], error: (any Error)?) {
        get async {
            var iterator = makeAsyncIterator()
            var elements: [Element] = []
            var failure: (any Error)?
            do {
                while let element = try await iterator.next() { elements.append(element) }
            } catch {
                failure = error
            }
            for _ in 0..<3 {
                do {
                    let another = try await iterator.next()
                    #expect(another == nil)
                } catch {
                    Issue.record(error)
                }
            }
            return (elements, failure)
        }
    }
}
