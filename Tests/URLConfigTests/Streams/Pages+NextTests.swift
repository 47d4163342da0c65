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

    private static let key = DispatchSpecificKey<Bool>()
    /// Whether it runs on the queue of the main actor.
    private static var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: key) == true }

    @MainActor @Test(.stubs { $0.pages(2) }) func `nothing of it runs on the caller's actor`() async throws {
        DispatchQueue.main.setSpecific(key: Self.key, value: true)
        let pages = stubs.pages { _ in
        } next: { page in
            #expect(!Self.isOnMainQueue)
            return page.url?.query() == nil ? stubs.request("/articles?page=2") : nil
        }
        let values = pages.values(of: [Int].self) { values in
            #expect(!Self.isOnMainQueue)
            return values
        }
        var found: [Int] = []
        for try await value in values {
            #expect(Self.isOnMainQueue)
            found.append(value)
        }
        #expect(found == [1, 2])
    }
}
