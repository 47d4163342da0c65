import Testing
import URLConfig

@testable import URLConfigTesting

struct HTTPStubsTests {
    @Test(
        .stubs {
            $0.get("https://api.example.com/v2/users/{id}") { request in .json(User(id: request["id"], name: "Ada")) }
            $0.post("/v2/users", .status(.serviceUnavailable), .json(user))  // one after the other
        })
    func `a user is created after a retry`() async throws {
        let user = try await UserRepository().create("Ada")
        #expect(HTTPStubs.requests.map(\.method) == [.post, .post])
        #expect(try await UserRepository().user(user.id) == user)
        #expect(HTTPStubs.requests.map(\.attempt) == [1, 2, 1])
    }

    @Test func `the scope wins over config, presets and defaults, and only inside`() async throws {
        let refusing = Transport { _ in throw URLError(.notConnectedToInternet) }
        try await HTTPStubs.with {
            $0.get("/v2/users/{id}", .json(user))
        } operation: {
            try await URLSession.Config.withHosts(["api.example.com": .init().with { $0.transport = refusing }]) {
                try await send()
                try await send { $0.transport = refusing }
            }
        }
        _ = await #expect(throws: URLError.self) { try await send { $0.transport = refusing } }
    }

    @Test func `a thousand tests at once have their own stubs`() async throws {
        let ids = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for id in 0..<1000 {
                group.addTask {
                    try await HTTPStubs.with {
                        $0.get("/v2/users/1", .status(.serviceUnavailable), .json(User(id: id, name: "")))
                    } operation: {
                        let response = try await send { $0.retry = .standard }
                        #expect(HTTPStubs.requests.count == 2)
                        return (id, try response.decode(User.self).id)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ids.count == 1000)
        #expect(ids.allSatisfy { $0 == $1 })
    }

    @Test func `an inner scope comes first, and both see its requests`() async throws {
        try await HTTPStubs.with {
            $0.get("/v2/users/1", .text("outer")).times(1)
            $0.get("/v2/users/2", .text("outer"))
        } operation: {
            try await HTTPStubs.with {
                $0.get("/v2/users/1", .text("inner"))
            } operation: {
                let texts = [try await send("/users/1").text(), try await send("/users/2").text()]
                #expect(texts == ["inner", "outer"])
                #expect(HTTPStubs.requests.count == 2)
            }
            #expect(try await send("/users/1").text() == "outer")
            #expect(HTTPStubs.requests.map(\.url.lastPathComponent) == ["1", "2", "1"])
        }
        #expect(HTTPStubs.requests.isEmpty)
    }

    @Test(arguments: [false, true])
    func `outside of Swift Testing, the operation throws what would be an issue`(_ throwsOther: Bool) async throws {
        // A detached task belongs to no test.
        let error = await Task.detached { () -> (any Error)? in
            do {
                try await HTTPStubs.with {
                    $0.get("/v2/users/{id}", .json(user))
                } operation: {
                    _ = try? await send("/user/1", line: 7)
                    if throwsOther { throw CocoaError(.featureUnsupported) }
                }
                return nil
            } catch {
                return error
            }
        }.value
        let text = "\(try #require(error as? RequestError))"
        #expect(text.contains("invalidStubs: "))
        #expect(text.contains("App.swift:7: GET https://api.example.com/v2/user/1 matches no route"))
        #expect(text.contains("GET /v2/users/{id} was never used") == !throwsOther)
    }

    @Test(
        .stubs {
            $0.get("/v2/users", .json("[1]").field(.init("Link")!, "</v2/more>; rel=next"))
            $0.get("/v2/more", .json("[2]"))
            $0.get("/v2/film", .data(Data("film".utf8)))
        })
    func `pages and downloads are also stubbed`() async throws {
        var numbers: [Int] = []
        let users = URLRequest.with(.api) { $0.path = "/users" }
        for try await number in URLSession.shared.pages(for: users).values(of: [Int].self) { numbers.append(number) }
        #expect(numbers == [1, 2])
        let folder = try ReplayFolder()
        let film = folder.url.appending(path: "film")
        try await URLSession.shared.download(for: .with(.api) { $0.path = "/film" }, to: film)
        #expect(try Data(contentsOf: film) == Data("film".utf8))
    }

    @MainActor @Test func `an operation stays on its actor`() async throws {
        var count = 0
        try await HTTPStubs.with {
            $0.get("/v2/users/1")
        } operation: {
            await HTTPStubs.network { count += 1 }
            try await send()
            MainActor.assertIsolated()
        }
        #expect(count == 1)
    }

    @Test func `a call that no scope reaches is refused, with its line`() async throws {
        let (text, line) = try await issue {
            _ = await #expect(throws: RequestError.self) {
                try await CallScope.$current.withValue(Refusal.offline) { try await send(line: 12) }
            }
        }
        #expect(text.contains("the call in URLConfigTestingTests/App.swift:12 would reach the network"))
        #expect(line == 12)
    }

    @Test func `a request that an app's own transport passes on is refused, with an issue at the test`() async throws {
        let passing = Transport { try await Transport.urlSession.send($0) }
        let (text, line) = try await issue {
            await CallScope.$current.withValue(Refusal.offline) {
                _ = await #expect(throws: RequestError.self) { try await send { $0.transport = passing } }
                let stored = await #expect(throws: URLError.self) {
                    try await send(
                        "/n", request: { $0.cachePolicy = .returnCacheDataDontLoad }, { $0.transport = passing })
                }
                #expect(stored?.code == .resourceUnavailable)
            }
        }
        #expect(text.hasPrefix("the call would reach the network"))
        #expect(line == Test.current?.sourceLocation.line)
    }
}

/// Serialized, because the last test changes the process.
@Suite(.stubs { $0.get("/v2/users/1", .text("suite")).optional() }, .serialized)
struct SuiteTraitTests {
    @Test(.stubs { $0.get("/v2/users/1", .text("test")) })
    func `a test's routes come before the suite's`() async throws {
        #expect(try await send().text() == "test")
    }

    @Test(arguments: 1...3) func `each test has its own scope`(_: Int) async throws {
        #expect(try await send().text() == "suite")
        #expect(HTTPStubs.requests.count == 1)
    }

    @Test(.network) func `a test without stubs in a suite with stubs reaches servers`() async throws {
        let error = await #expect(throws: URLError.self) {
            try await URLSession.shared.response(for: .with(.init(host: "http://127.0.0.1:1"))) { $0.logger = nil }
        }
        #expect(error?.code == .cannotConnectToHost)
    }
}

@Suite(.stubs { $0.get("/v2/users/1") }, .replay("users")) struct NetworkTraitTests {
    @Test(.network) func `a test with real servers need not use the stubs and the recording of its suite`() {}
}

/// Counts its questions, and stores nothing.
private struct AskedStore: CacheStore {
    let questions = Locked(0)

    func responses(for key: CacheKey) async throws -> [StoredResponse] {
        questions.withLock { $0 += 1 }
        return []
    }

    func writer(for head: StoredResponse.Head, key: CacheKey) async throws -> (any CacheWriter)? { nil }
    func update(_ response: StoredResponse, _ head: StoredResponse.Head, key: CacheKey) async throws {}
    func remove(_ responses: CacheSelection?) async throws {}
    func salt() async throws -> Data { Data(count: 32) }
}

#if os(Linux) || os(macOS)
/// In processes of their own, because they change the whole process.
struct RefuseNetworkTests {
    @Test func `calls in detached tasks are refused, with their line`() async {
        await #expect(processExitsWith: .success) {
            _ = alarm(300)  // A child that does not end is a failure.
            HTTPStubs.refuseNetwork()
            let error = await Task.detached {
                await #expect(throws: RequestError.self) { try await send(line: 12) }
            }.value
            #expect(error?.reason.contains("URLConfigTestingTests/App.swift:12 would reach the network") == true)
            // The error comes from the task, not from the continuation, where the thread sanitizer takes it for a race.
            let queued = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    let task = Task { await #expect(throws: RequestError.self) { try await send() } }
                    continuation.resume(returning: task)
                }
            }
            #expect(await queued.value?.code == .notStubbed)
            // A transport that sends with one of the library's.
            await #expect(throws: RequestError.self) {
                try await send { $0.transport = Transport { try await Transport.urlSession.send($0) } }
            }
            try await send { $0.transport = Transport { _ in .init() } }
            URLSession.Config.default.transport = Transport { _ in throw URLError(.notConnectedToInternet) }
            try await HTTPStubs.with({ $0.get("/v2/users/1") }, operation: { try await send() })
        }
    }

    @Test func `with an offline suite, calls that belong to no test are refused`() async {
        await #expect(processExitsWith: .success) {
            _ = alarm(300)  // A child that does not end is a failure.
            _ = HTTPStubs.ScopeTrait.offline
            let error = await Task.detached {
                await #expect(throws: RequestError.self) { try await send() }
            }.value
            #expect(error?.code == .notStubbed)
            let refused = await HTTPStubs.network {
                await #expect(throws: URLError.self) {
                    try await URLSession.shared.response(for: .with(.init(host: "http://127.0.0.1:1")))
                }
            }
            #expect(refused?.code == .cannotConnectToHost)
            // What would not be sent anyway is no call to the network.
            let stored = await Task.detached {
                await #expect(throws: URLError.self) {
                    try await send("/users/1", request: { $0.cachePolicy = .returnCacheDataDontLoad })
                }
            }.value
            #expect(stored?.code == .resourceUnavailable)
            // Stubs around it stay.
            let text = try await HTTPStubs.with {
                $0.get("/v2/users/1", .text("stub"))
            } operation: {
                let text = Locked("")
                try await HTTPStubs.ScopeTrait.offline.run { text.set(\.self, try await send().text()) }
                return text.withLock { $0 }
            }
            #expect(text == "stub")
            // Without stubs, a cache is the one that was set.
            let store = AskedStore()
            try await send {
                $0.cache = HTTPCache(store: store)
                $0.transport = Transport { _ in .init() }
            }
            #expect(store.questions.withLock { $0 } > 0)
        }
    }
}
#endif
