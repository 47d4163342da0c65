import Testing
import URLConfigTesting

@testable import URLConfig

/// Two people use two sessions with one cache: each response names whose credentials the server saw.
@Suite(.inTime) struct CacheIdentityTests {
    @Test func `nobody receives another one's response`() async throws {
        var random = SeededGenerator.ofThisRun()
        var hits = 0
        for round in 0..<1_000 {
            let story = await Household().live(&random)
            hits += story.hits
            try #require(story.wrong == nil, "round \(round): \(story.steps.joined(separator: ", "))")
        }
        // Otherwise the cache never gives a stored response to anybody.
        #expect(hits > 1_000)
    }
}

/// The sessions and the server.
private struct Household: Sendable {
    struct Story: Sendable {
        var steps: [String] = []
        var hits = 0
        var wrong: String?

        static func += (story: inout Self, part: Self) {
            story.steps += part.steps
            story.hits += part.hits
            story.wrong = story.wrong ?? part.wrong
        }
    }

    /// A session with its own cookies, in which people sign in and out.
    final class Device: Sendable {
        struct State {
            var token: String?
            var cookie: String?
            var serial = 0
        }

        let state = Locked(State())
        let session = URLSession(configuration: .ofTests)
        let authenticator: TokenAuthenticator

        init() {
            let state = state
            authenticator = TokenAuthenticator(hosts: ["api.test"]) {
                state.withLock { $0.token.map { .init($0) } }
            } refresh: { refused in
                // The same person, another token.
                let next = refused.value.prefix(3) + "\(UInt32.random(in: 0 ... .max))"
                state.set(\.token, String(next))
                return .init(String(next))
            }
        }

        func signIn(_ token: String?) async {
            state.set(\.token, token)
            await authenticator.setToken(token.map { .init($0) })
        }

        /// Stores the cookie as a response would.
        func setCookie(_ person: String?) throws {
            let storage = try #require(session.configuration.httpCookieStorage)
            state.set(\.cookie, person)
            guard let person else { return storage.cookies?.forEach(storage.deleteCookie) ?? () }
            let cookie = HTTPCookie(properties: [.name: "id", .value: person, .domain: "api.test", .path: "/"])
            storage.setCookie(try #require(cookie))
        }

        /// What the server should see.
        var who: String { state.withLock { "\($0.token?.prefix(3) ?? "nobody")/\($0.cookie ?? "nobody")" } }
    }

    private let devices = [Device(), Device()]
    private let cache = HTTPCache.memory(megabytes: 1)
    private let clock = TestClock()
    private let people = ["Ada", "Bob"]
    /// The tokens that the server does not accept any more.
    private let refused = Locked<Set<String>>([])
    /// What happens while a request is on its way.
    private let meanwhile = Locked<(@Sendable () async throws -> Void)?>(nil)

    /// Some random steps.
    func live(_ random: inout SeededGenerator) async -> Story {
        var story = Story()
        for _ in 0..<12 where story.wrong == nil {
            let device = devices[.random(in: 0...1, using: &random)]
            let person = people[.random(in: 0...1, using: &random)]
            let serial = Int.random(in: 0...2, using: &random)
            let path = ["/me", "/me?page=2", "/moved"][.random(in: 0...2, using: &random)]
            do {
                switch Int.random(in: 0..<12, using: &random) {
                case 0: await note("sign in \(person)", &story) { await device.signIn("\(person)\(serial)") }
                case 1: await note("sign out", &story) { await device.signIn(nil) }
                case 2: try await note("cookie \(person)", &story) { try device.setCookie(person) }
                case 3: try await note("no cookie", &story) { try device.setCookie(nil) }
                case 4:
                    await note("expire", &story) {
                        let token = device.state.withLock { $0.token }
                        refused.withLock { if let token { $0.insert(token) } }
                    }
                case 5: await note("later", &story) { clock.move(by: .seconds(7)) }
                case 6:
                    story.steps.append("\(person) signs in meanwhile")
                    meanwhile.set(\.self) {
                        await device.signIn("\(person)\(serial)")
                        try device.setCookie(person)
                    }
                    story += try await call(device, path)
                    meanwhile.set(\.self, nil)
                case 7: story += try await call(device, path, token: "\(person)-own")
                case 8:
                    async let first = call(devices[0], path)
                    async let second = call(devices[1], path)
                    for part in try await [first, second] { story += part }
                default: story += try await call(device, path)
                }
            } catch {
                story.wrong = "\(error)"
            }
        }
        return story
    }

    private func note(_ step: String, _ story: inout Story, _ work: () async throws -> Void) async rethrows {
        story.steps.append(step)
        try await work()
    }

    /// Calls the server, which must see who is signed in when the call begins.
    private func call(_ device: Device, _ path: String, token: String? = nil) async throws -> Story {
        let url = try #require(URL(string: "https://api.test\(path)"))
        var request = URLRequest(url: url)
        let expected =
            path == "/moved" ? "nobody/nobody" : token.map { "\($0.prefix(3))/\(device.cookie)" } ?? device.who
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let response = try await device.session.response(for: request, config: .silent) {
            ($0.cache, $0.clock, $0.authenticator) = (cache, clock, device.authenticator)
            $0.transport = Transport { await send($0) }
        }
        await cache.finishRevalidations()
        let body = String(decoding: response.data, as: UTF8.self)
        let step = "\(path) on \(devices[0] === device ? 1 : 2): \(body), \(response.cacheStatus?.description ?? "")"
        let wrong = body == expected ? nil : "\(body), not \(expected)"
        return Story(steps: [step], hits: response.fromCache ? 1 : 0, wrong: wrong)
    }

    private func send(_ request: Transport.Request) async -> Transport.Response {
        let sent = request.completeURLRequest
        let token = sent.field("Authorization").map { String($0.dropFirst("Bearer ".count)) }
        if sent.url?.path() == "/moved" {
            let fields: HTTPFields = [.location: "https://other.test/me", .cacheControl: "max-age=10"]
            return .init(status: .movedPermanently, headerFields: fields)
        }
        if let token, refused.withLock({ $0.contains(token) }) { return .init(status: .unauthorized) }
        // The response is about who has sent the request, whoever signs in meanwhile.
        let change = meanwhile.withLock { change in
            defer { change = nil }
            return change
        }
        try? await change?()
        let cookie = sent.field("Cookie").map { String($0.dropFirst("id=".count)) }
        let body = "\(token?.prefix(3) ?? "nobody")/\(cookie ?? "nobody")"
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=5", .eTag: "\"\(body)\""]
        if sent.field("If-None-Match") == "\"\(body)\"" { return .init(status: .notModified, headerFields: fields) }
        return .init(headerFields: fields, body: .init(Data(body.utf8)))
    }
}

extension Household.Device {
    fileprivate var cookie: String { state.withLock { $0.cookie ?? "nobody" } }
}
