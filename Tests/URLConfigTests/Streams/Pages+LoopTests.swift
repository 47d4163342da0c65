import FlyingFox
import Testing

@testable import URLConfig

/// Pages that lead back to pages that were requested before.
@Suite(.timeLimit(.minutes(10))) struct PagesLoopTests {
    @Test(arguments: [(1, "", "GET"), (1, "#part", "POST"), (3, "#part", "GET"), (3, "", "POST")])
    func `a loop ends with an error`(length: Int, fragment: String, method: String) async throws {
        let requests = Locked(0)
        try await Loopback.serving { request in
            requests.withLock { $0 += 1 }
            let number = Int(request.path.dropFirst()) ?? 0
            var response = Loopback.Response.json("[\(number)]")
            let next = number == length - 1 ? "/0?token=s3cret\(fragment)" : "/\(number + 1)"
            response.headers[.init("Link")] = "<\(next)>; rel=next"
            return response
        } _: { server in
            let request = server.request("/0?token=s3cret") {
                $0.method = .init(method) ?? .get
                if method == "POST" { ($0.body, $0.idempotencyKey) = (.text("words"), .automatic) }
            }
            let (pages, thrown) = await server.pages(for: request).outcome
            let error = thrown as? RequestError
            #expect(pages.count == length)
            #expect(error?.code == .invalidResponse)
            #expect(error?.response?.url?.path() == "/\(length - 1)")
            #expect(error?.reason.hasSuffix("was requested before; the pages form a loop") == true)
            #expect(error?.reason.hasPrefix("the next page, \(method) \(server.host)/0?token=***") == true)
            #expect(requests.withLock { $0 } == length)
        }
    }

    @Test func `what differs in method, body or a field is another page`() async throws {
        try await Loopback.serving { _ in
            .json("[]")
        } _: { server in
            let changes: [@Sendable (inout URLRequest.Config) -> Void] = [
                { _ in }, { $0.method = .post },
                { ($0.method, $0.body) = (.post, .data(Data(count: 1000), contentType: .json)) },
                { ($0.method, $0.body) = (.post, .data(Data(count: 999) + [1], contentType: .json)) },
                { $0.headers[.accept] = "text/plain" }, { $0.query["a"] = 1 },
            ]
            let requests = changes.map { server.request("/", $0) }
            let index = Locked(0)
            let pages = server.pages(for: requests.first) { _ in
            } next: { _ in
                index.withLock { index in
                    index += 1
                    return index < requests.count ? requests[index] : nil
                }
            }
            let count = try await pages.all.count
            #expect(count == requests.count)
        }
    }

    @Test func `another body in the same place is found in a chain of thousands`() async throws {
        // Without a server, because it is about the requests only.
        let transport = Transport { request in .init(body: .init(request.urlRequest.httpBody ?? Data())) }
        let request = URLRequest.with(.init(host: "https://api.example.com")) {
            ($0.method, $0.body) = (.post, .text("0"))
        }
        let pages = URLSession.shared.pages(for: request, config: .silent) {
            $0.transport = transport
        } next: { page in
            let number = (Int(try page.text()) ?? 0) + 1
            return .with(.init(host: "https://api.example.com")) {
                ($0.method, $0.body) = (.post, .text("\(number == 5000 ? 17 : number)"))
            }
        }
        var count = 0
        let error = await #expect(throws: RequestError.self) {
            for try await _ in pages { count += 1 }
        }
        #expect(error?.code == .invalidResponse)
        #expect(count == 5000)
    }
}
