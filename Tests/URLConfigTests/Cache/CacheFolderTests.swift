import Testing
import URLConfigTesting

@testable import URLConfig

/// Folders that several caches use, that vanish, or whose files are damaged.
@Suite(.inTime) struct CacheFolderTests {
    private let seen = Recorder<URLRequest>()
    private let request = URLRequest.with { $0.url = URL(string: "https://api.test/a") }

    /// - Parameter respond: The body of the n-th response.
    @discardableResult
    private func get(
        _ cache: HTTPCache, _ request: URLRequest? = nil, _ change: (inout URLSession.Config) -> Void = { _ in },
        _ respond: @escaping @Sendable (Int) async throws -> Data
    ) async throws -> DataResponse {
        try await URLSession.shared.response(for: request ?? self.request, config: .silent) {
            $0.cache = cache
            $0.transport = Transport { [seen] in
                let body = try await respond(seen.note($0.urlRequest))
                return .init(headerFields: [.cacheControl: "max-age=1000"], body: .init(body))
            }
            change(&$0)
        }
    }

    /// The paths of all files and folders in a folder.
    private func paths(in directory: TemporaryDirectory) -> [String] {
        FileManager.default.enumerator(atPath: directory.url.path)?.allObjects as? [String] ?? []
    }

    private func files(in directory: TemporaryDirectory) -> [URL] {
        paths(in: directory).filter { $0.contains("/") }.map { directory.url.appending(path: $0) }
    }

    private let numbered = { @Sendable (number: Int) async throws in Data("\(number)".utf8) }

    @Test(arguments: ["PUT", "requester", "all"])
    func `what one cache of a folder removes, another one does not store later`(removal: String) async throws {
        let directory = TemporaryDirectory()
        let caches = [URL.DirectoryHint.isDirectory, .notDirectory].map { hint in
            HTTPCache.disk(megabytes: 1, in: directory.url.appending(path: "cache", directoryHint: hint))
        }
        let gate = Gate()
        let call = Task {
            try await get(caches[0]) {
                $0.cache?.requester = "ada"
            } _: { number in
                await gate.pass()
                return try await numbered(number)
            }
        }
        await gate.waitForArrivals()
        switch removal {
        case "PUT":
            let put = URLRequest.with {
                ($0.url, $0.method) = (request.url, .put)
            }
            try await get(caches[1], put, { _ in }, numbered)
        case "all": try await caches[1].removeAll()
        default: try await caches[1].removeResponses(for: "ada")
        }
        gate.open()
        #expect(try await call.valueInTime.status == .ok)
        let response = try await get(caches[1], nil, { $0.cache?.requester = "ada" }, numbered)
        #expect(response.cacheStatus?.isHit == false)
    }

    @Test func `what one cache of a folder removes stays removed if it waits for the disk`() async throws {
        let directory = TemporaryDirectory()
        let caches = (0..<2).map { _ in HTTPCache.disk(megabytes: 20, in: directory.url) }
        let store = try #require(caches[0].core.store as? DiskStore)
        let gate = DispatchSemaphore(value: 0)
        store.commits.async { gate.wait() }
        try await get(caches[0]) { _ in Data(count: 3_000_000) }
        try await caches[1].removeAll()
        gate.signal()
        await store.settle()
        #expect(files(in: directory).isEmpty)
    }

    @Test func `after the folder has vanished, the next run finds a user's responses, and removes them`()
        async throws
    {
        let directory = TemporaryDirectory()
        let folder = directory.url.appending(path: "cache")
        func cache() -> HTTPCache {
            var cache = HTTPCache.disk(megabytes: 1, in: folder)
            cache.requester = "ada"
            return cache
        }
        let first = cache()
        try await get(first, nil, { _ in }, numbered)
        await (first.core.store as? DiskStore)?.settle()
        try FileManager.default.removeItem(at: folder)
        // The folder is made again.
        try await get(first, nil, { _ in }, numbered)
        let found = try await get(cache(), nil, { _ in }, numbered)
        #expect(found.cacheStatus?.isHit == true)
        try await cache().removeResponses(for: "ada")
        let removed = try await get(cache(), nil, { _ in }, numbered)
        #expect(removed.cacheStatus?.isHit == false)
    }

    @Test func `no name and no byte in the folder tells a secret of a request`() async throws {
        let directory = TemporaryDirectory()
        let cache = HTTPCache.disk(megabytes: 1, in: directory.url)
        let tokens = TokenAuthenticator("canary-token") { _ in nil }
        let url = URL(string: "https://api.test/canary-path?token=canary-query")
        for user in ["own credentials", "token", "name"] {
            var request = URLRequest.with { $0.url = url }
            request.setValue("id=canary-cookie", forHTTPHeaderField: "Cookie")
            request.setValue("canary-key", forHTTPHeaderField: "X-API-Key")
            if user != "token" { request.setValue("Bearer canary-own", forHTTPHeaderField: "Authorization") }
            for isStored in [false, true] {
                let response = try await URLSession.shared.response(for: request, config: .silent) {
                    $0.cache = cache
                    if user == "name" { $0.cache?.requester = "canary-name" }
                    if user == "token" { $0.authenticator = tokens }
                    $0.transport = Transport {
                        if $0.urlRequest.field("If-None-Match") != nil { return .init(status: .notModified) }
                        let fields: HTTPFields = [
                            .cacheControl: "no-cache", .eTag: "\"1\"", .vary: "Authorization, Cookie, X-API-Key",
                        ]
                        return .init(headerFields: fields, body: .init(Data("of the server".utf8)))
                    }
                }
                // The validation adds another head to the file.
                #expect(response.fromCache == isStored)
            }
        }
        await (cache.core.store as? DiskStore)?.settle()
        let paths = paths(in: directory)
        let contents = paths.compactMap { try? Data(contentsOf: directory.url.appending(path: $0)) }
        func count(_ text: String) -> Int { contents.count { $0.range(of: Data(text.utf8)) != nil } }
        #expect(count("of the server") == 3)
        #expect(count("canary") == 0)
        #expect(paths.allSatisfy { !$0.contains("canary") })
    }

    @Test func `a damaged file of any length is a miss`() async throws {
        let directory = TemporaryDirectory()
        let cache = HTTPCache.disk(megabytes: 20, in: directory.url)
        let store = try #require(cache.core.store as? DiskStore)
        for count in [10, 900_000, 3_000_000] {
            let url = URL(string: "https://api.test/\(count)")
            let request = URLRequest.with { $0.url = url }
            try await get(cache, request) { _ in Data(count: count) }
            await store.settle()
            let file = try #require(files(in: directory).first)
            let handle = try FileHandle(forUpdating: file)
            try handle.seek(toOffset: UInt64(count / 2))
            try handle.write(contentsOf: Data("#".utf8))
            try handle.close()
            let response = try await get(cache, request) { _ in Data(repeating: 1, count: count) }
            let isNew = response.data == Data(repeating: 1, count: count)
            #expect(isNew)
            #expect(response.cacheStatus?.isHit == false)
            // It is found while the longer body is read.
            let reason = count > 1_000_000 ? "the stored response was damaged" : nil
            #expect(response.attempts.first?.reason == reason)
            try await cache.removeAll()
        }
    }

    @Test func `a sign-out removes all that was stored with other fields of the same user`() async throws {
        let directory = TemporaryDirectory()
        let cache = HTTPCache.disk(megabytes: 10, in: directory.url)
        let authenticator = TokenAuthenticator("one") { _ in nil }
        for tenant in 0..<120 {
            var request = request
            request.setValue("\(tenant)", forHTTPHeaderField: "X-Tenant-ID")
            try await get(cache, request, { $0.authenticator = authenticator }, numbered)
        }
        #expect(files(in: directory).count == 120)
        await authenticator.setToken(nil)
        try await waitUntil { files(in: directory).isEmpty }
    }
}
