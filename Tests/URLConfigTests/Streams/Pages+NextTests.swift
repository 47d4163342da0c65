import Dispatch
import Testing
import URLConfigTesting

@testable import URLConfig

/// APIs that page in their own way.
@Suite(.inTime) struct PagesNextTests {
    private struct Envelope: Decodable {
        let items: [Int]
        let cursor: String?
    }

    private struct Failure: Error {}

    /// Sets the cursor of a request.
    private enum Place: CaseIterable {
        case query
        case field
        case body

        func set(_ cursor: String, _ config: inout URLRequest.Config) throws {
            switch self {
            case .query: config.query["cursor"] = cursor
            case .field: config.headers[try #require(HTTPField.Name("X-Cursor"))] = cursor
            case .body: config.body = .text(cursor)
            }
        }
    }

    @Test(
        .stubs {
            $0.post("/") { request in
                let content = String(decoding: request.body, as: UTF8.self)
                switch request.query.first?.value ?? request.headerFields[.init("X-Cursor")!] ?? content {
                case "": return .json(#"{"items":[1,2],"cursor":"b"}"#)
                case "b": return .json(#"{"items":[],"cursor":"c"}"#)
                case "c": return .json(#"{"items":[3]}"#)
                default: return .status(.notFound)
                }
            }
        }, arguments: Place.allCases)
    private func `a cursor in the content`(place: Place) async throws {
        let preset = stubs.config.with { $0.method = .post }
        let pages = stubs.pages(for: .with(preset)) { _ in
        } next: { page in
            guard let cursor = try page.decode(Envelope.self).cursor else { return nil }
            return try .with(preset) { try place.set(cursor, &$0) }
        }
        let found = try await pages.values(of: Envelope.self, \.items).all
        #expect(found == [1, 2, 3])
    }

    @Test func `a link in the content, which a preset follows without its credentials`() async throws {
        try await Origins.serving { origins in
            let preset = origins.a.config.with { $0.authorization = .bearer("secret") }
            let links = ["/articles": origins.a.host + "/second", "/second": origins.b.host + "/third"]
            let pages = origins.a.pages(for: .with(preset) { $0.path = "/articles" }) { _ in
            } next: { page in
                guard let link = links[page.url?.path() ?? ""] else { return nil }
                return .with(preset) { $0.url = URL(string: link) }
            }
            let count = try await pages.all.count
            #expect(count == 3)
            #expect(origins.seen.map(\.origin) == ["a", "a", "b"])
            #expect(origins.seen.map { $0.field("Authorization") } == ["Bearer secret", "Bearer secret", nil])
        }
    }

    @Test(.stubs { $0.pages(3) }) func `its error ends the pages, after the page that it was called with`() async throws
    {
        let (pages, error) = await stubs.pages({ _ in }, next: { _ in throw Failure() }).outcome
        #expect(pages.count == 1)
        #expect(error is Failure)
        #expect(HTTPStubs.requests.count == 1)
    }

    @Test(.stubs { $0.pages(3) }) func `it is not called when the loop has ended`() async throws {
        let pages = stubs.pages { _ in
        } next: { _ in
            Issue.record("no next page is wanted")
            return nil
        }
        for try await _ in pages { break }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test(.stubs { $0.pages(2) }) func `nothing of it runs on the caller's actor`() async throws {
        let pages = stubs.pages { _ in
        } next: { page in
            #expect(!Caller.isCurrent)
            return page.url?.query() == nil ? stubs.request("/articles?page=2") : nil
        }
        let values = pages.values(of: [Int].self) { values in
            #expect(!Caller.isCurrent)
            return values
        }
        let found = try await Caller().loop(values)
        #expect(found == [1, 2])
    }
}

/// An actor with a queue of its own, so that code can find out whether it runs there.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private actor Caller {
    private final class Executor: SerialExecutor {
        let queue = DispatchQueue(label: "caller")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private static let key = DispatchSpecificKey<Bool>()
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init() {
        executor.queue.setSpecific(key: Self.key, value: true)
    }

    func loop(_ values: Pages.Values<Int>) async throws -> [Int] {
        var found: [Int] = []
        for try await value in values {
            #expect(Self.isCurrent)
            found.append(value)
        }
        return found
    }
}
