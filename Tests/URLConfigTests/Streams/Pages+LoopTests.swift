import Testing
import URLConfigTesting

@testable import URLConfig

/// Pages that lead back to pages that were requested before.
@Suite(.inTime) struct PagesLoopTests {
    @Test(arguments: [(1, "", "GET"), (1, "#part", "POST"), (3, "#part", "GET"), (3, "", "POST")])
    func `a loop ends with an error`(length: Int, fragment: String, method: String) async throws {
        try await HTTPStubs.with {
            for number in 0..<length {
                let next = number == length - 1 ? "/0?token=s3cret\(fragment)" : "/\(number + 1)"
                $0.any("/\(number)", .json("[]").field(.init("Link")!, "<\(next)>; rel=next")).times(1)
            }
        } operation: {
            let request = stubs.request("/0?token=s3cret") {
                $0.method = .init(method) ?? .get
                if method == "POST" { ($0.body, $0.idempotencyKey) = (.text("words"), .automatic) }
            }
            let (pages, thrown) = await stubs.pages(for: request).outcome
            let error = thrown as? RequestError
            #expect(pages.count == length)
            #expect(error?.code == .invalidResponse)
            #expect(error?.response?.url?.path() == "/\(length - 1)")
            #expect(error?.reason.hasSuffix("was requested before; the pages form a loop") == true)
            #expect(error?.reason.hasPrefix("the next page, \(method) \(stubs.host)/0?token=***") == true)
        }
    }

    @Test(.stubs { $0.any("/") }) func `what differs in method, body or a field is another page`() async throws {
        let changes: [@Sendable (inout URLRequest.Config) -> Void] = [
            { _ in }, { $0.method = .post },
            { ($0.method, $0.body) = (.post, .data(Data(count: 1000), contentType: .json)) },
            { ($0.method, $0.body) = (.post, .data(Data(count: 999) + [1], contentType: .json)) },
            { $0.headers[.accept] = "text/plain" }, { $0.query["a"] = 1 },
        ]
        let requests = changes.map { stubs.request("/", $0) }
        let index = Locked(0)
        let pages = stubs.pages(for: requests.first) { _ in
        } next: { _ in
            index.withLock { index in
                index += 1
                return index < requests.count ? requests[index] : nil
            }
        }
        let count = try await pages.all.count
        #expect(count == requests.count)
    }

    @Test(.stubs { $0.post("/") { .data($0.body) } })
    func `another body in the same place is found in a chain of thousands`() async throws {
        let first = stubs.request { ($0.method, $0.body) = (.post, .text("0")) }
        let pages = stubs.pages(for: first) { _ in
        } next: { page in
            let number = (Int(try page.text()) ?? 0) + 1
            return stubs.request { ($0.method, $0.body) = (.post, .text("\(number == 5000 ? 17 : number)")) }
        }
        var count = 0
        await expectError(.invalidResponse) { for try await _ in pages { count += 1 } }
        #expect(count == 5000)
    }
}
