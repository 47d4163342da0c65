import Testing
import URLConfig
import URLConfigTesting

/// A store as an app writes it, with the public interface only: it keeps heads as JSON.
private actor JSONStore: CacheStore {
    private struct Entry {
        let id = UUID().uuidString
        var head: Data
        let body: Data
    }

    private let bytes = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    /// By key and variant.
    private var entries: [CacheKey: [String: Entry]] = [:]
    /// The number of removals: a body that began before one is not stored.
    private var removals = 0

    func salt() -> Data { bytes }

    func responses(for key: CacheKey) throws -> [StoredResponse] {
        try entries[key, default: [:]].values.map { entry in
            let head = try JSONDecoder().decode(StoredResponse.Head.self, from: entry.head)
            return StoredResponse(head: head, id: entry.id) { ResponseBody(entry.body) }
        }
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) -> (any CacheWriter)? {
        Writer { [removals] body in try await self.add(head, body, key, since: removals) }
    }

    private func add(_ head: StoredResponse.Head, _ body: Data, _ key: CacheKey, since begin: Int) throws {
        guard begin == removals else { throw CancellationError() }
        entries[key, default: [:]][head.variant] = Entry(head: try JSONEncoder().encode(head), body: body)
    }

    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) throws {
        guard entries[key]?[head.variant]?.id == response.id else { return }
        entries[key]?[head.variant]?.head = try JSONEncoder().encode(head)
    }

    func remove(_ responses: CacheSelection?) {
        removals += 1
        switch responses {
        case nil: entries = [:]
        case .resource(let resource): entries = entries.filter { $0.key.resource != resource }
        case .requester(let requester): entries = entries.filter { $0.key.requester != requester }
        }
    }

    private actor Writer: CacheWriter {
        private let add: @Sendable (Data) async throws -> Void
        private var body = Data()

        init(_ add: @escaping @Sendable (Data) async throws -> Void) { self.add = add }

        func write(_ piece: Data) { body += piece }

        func finish() async throws { try await add(body) }
    }
}

/// What an app can do with a store of its own.
///
/// This file has no access to what is internal.
@Suite(.inTime) struct PublicStoreTests {
    private let cache = HTTPCache(store: JSONStore())
    private let clock = TestClock()
    private let seen = Recorder<URLRequest>()

    private func send(_ method: String = "GET", as requester: String? = nil) async throws -> DataResponse {
        var request = URLRequest(url: try #require(URL(string: "https://api.test/a")))
        request.httpMethod = method
        return try await URLSession.shared.response(for: request, config: .silent) {
            ($0.cache, $0.clock) = (cache, clock)
            $0.cache?.requester = requester
            $0.transport = Transport { [seen] in
                let number = seen.note($0.urlRequest)
                let fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"1\"", .server: "\(number)"]
                let isConditional = $0.urlRequest.value(forHTTPHeaderField: "If-None-Match") == "\"1\""
                if isConditional { return .init(status: .notModified, headerFields: fields) }
                return .init(headerFields: fields, body: .init(Data("\(number)".utf8)))
            }
        }
    }

    @Test func `a response is found again, later with the head of its validation`() async throws {
        #expect(try await send().cacheStatus?.isStored == true)
        let hit = try await send()
        #expect(hit.cacheStatus?.isHit == true)
        #expect(hit.headerFields[.server] == "1")
        await clock.advance(by: .seconds(20))
        let valid = try await send()
        #expect(valid.cacheStatus?.forwardStatus == .notModified)
        let later = try await send()
        #expect(later.cacheStatus?.isHit == true)
        for response in [valid, later] { #expect(response.headerFields[.server] == "2") }
        for response in [hit, valid, later] { #expect(try response.text() == "1") }
        #expect(seen.count == 2)
    }

    /// What is done, and whose responses stay.
    @Test(arguments: [("requester", ["Bob"]), ("PUT", []), ("all", [])])
    func `what is removed is requested again`(removal: String, remain: [String]) async throws {
        let names = ["Ada", "Bob"]
        for name in names {
            for isHit in [false, true] { #expect(try await send(as: name).fromCache == isHit) }
        }
        switch removal {
        case "PUT": #expect(try await send("PUT").status == .ok)
        case "all": try await cache.removeAll()
        default: try await cache.removeResponses(for: "Ada")
        }
        for name in names { #expect(try await send(as: name).fromCache == remain.contains(name)) }
    }
}
