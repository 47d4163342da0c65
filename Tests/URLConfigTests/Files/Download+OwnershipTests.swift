import Testing

@testable import URLConfig

/// Whose files and whose bytes a download uses.
@Suite(.inTime) struct DownloadOwnershipTests {
    private static let version = FileServer.Version(1, size: 300_000)
    private static let other = FileServer.Version(2, size: 300_000).with("ETag: \"v1\"\r\n", validator: "\"v1\"")
    private static let cut = FileServer.Cut(count: 200_000)
    private let folder = DownloadFolder()

    @Test(arguments: [false, true], [false, true])
    func `files of others beside the target are neither changed nor removed, and it is continued`(
        overwrites: Bool, breaks: Bool
    ) async throws {
        let others = ["a.zip.part", "a.zip.part.json", ".a.zip.urlconfig-part", ".a.zip.urlconfig-new"]
        for name in others { try Data("precious".utf8).write(to: folder.url.appending(component: name)) }
        try await FileServer(Self.version, cuts: breaks ? [Self.cut] : []).serving { server in
            if breaks { await #expect(throws: URLError.self) { try await server.download(to: folder) } }
            try await server.download(to: folder, overwrites: overwrites)
            #expect(folder.has(Self.version.content))
            #expect(try folder.names == (others + ["a.zip"]).sorted())
            #expect(breaks ? server.hasRanges(from: nil, 200_000) : server.hasRanges(from: nil))
            for name in others { #expect(folder.text(folder.url.appending(component: name)) == "precious") }
        }
    }

    @Test(arguments: ["Authorization", "Cookie", "X-API-Key", "url", "session", "storage", "authenticator"])
    func `the part of one user is not continued for another`(place: String) async throws {
        // The server does not say that the users have different files.
        let server = FileServer { number, _ in
            number == 0 ? .init(version: Self.version, cut: Self.cut) : .init(version: Self.other)
        }
        try await server.serving { server in
            for (user, isLast) in [("alice", false), ("robert", true)] {
                let configuration = server.session.configuration
                var request = server.request("/of-users/a.zip")
                if place == "session" { configuration.httpAdditionalHeaders = ["Authorization": "Bearer \(user)"] }
                if place == "storage" {
                    // The server transport does not use the shared storage.
                    let isShared = !TransportOfTests.isAsyncHTTPClient
                    configuration.httpCookieStorage = isShared ? .shared : configuration.httpCookieStorage
                    configuration.httpCookieStorage?.setCookie(try #require(cookie(user)))
                }
                if place == "url", let url = request.url?.absoluteString {
                    request.url = URL(string: url.replacing("://", with: "://\(user):pass@"))
                }
                if ["Authorization", "Cookie", "X-API-Key"].contains(place) {
                    request.setValue("s=\(user)", forHTTPHeaderField: place)
                }
                let session = URLSession(configuration: configuration)
                let result = await Result { [request] in
                    try await session.download(for: request, to: folder.file, config: .silent) {
                        $0.transport = TransportOfTests.transport
                        if place == "authenticator" { $0.authenticator = named(user) }
                    }
                }
                #expect((try? result.get()) != nil || !isLast)
                if !isLast { #expect(!(folder.text(folder.record) ?? "").contains(user)) }
            }
            #expect(folder.has(Self.other.content))
        }
    }

    /// Only requests of this suite have its path.
    private func cookie(_ user: String) -> HTTPCookie? {
        HTTPCookie(properties: [.name: "s", .value: user, .domain: "127.0.0.1", .path: "/of-users/a.zip"])
    }

    @Test func `the length of one user's file says nothing about another's`() async throws {
        let fault = FaultServer.Fault { connection in
            while true {
                let request = try connection.read()
                guard request.field("Authorization") != nil else {
                    guard try FileServer.send(.init(version: Self.version, cut: Self.cut), to: request, connection)
                    else { return }
                    continue
                }
                try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n")
                try connection.send(Self.other.content.prefix(100_000))
                return connection.close()
            }
        }
        try await FaultServer.serving(fault) { server in
            await #expect(throws: URLError.self) { try await server.download(to: folder) }
            try await server.download(to: folder) { $0.authenticator = named("robert") }
            #expect(folder.has(Self.other.content.prefix(100_000)))
        }
    }

    @Test func `in one call, a download continues with a renewed token, and so does the next call`() async throws {
        let server = FileServer { number, _ in
            .init(version: Self.version, cut: number < 2 ? .init(count: number == 0 ? 200_000 : 60_000) : nil)
        }
        try await server.serving { server in
            await #expect(throws: URLError.self) {
                try await server.download(to: folder, attempts: 2) { $0.authenticator = CountingAuthenticator() }
            }
            try await server.download(to: folder) { $0.authenticator = named("2") }
            #expect(folder.has(Self.version.content))
            #expect(server.requests.map { $0.field("Authorization") } == ["1", "2", "2"])
            if !TransportOfTests.isAsyncHTTPClient { #expect(server.hasRanges(from: nil, 200_000, 260_000)) }
        }
    }

    @Test(arguments: [200_000, 265_535])
    func `the last bytes of an earlier run are compared with the server's bytes`(offset: Int) async throws {
        try await FileServer(Self.version).serving { server in
            try server.leavePart(of: Self.version, in: folder)
            let handle = try FileHandle(forUpdating: folder.part)
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: [Self.version.content[offset] ^ 1])
            try handle.close()
            let response = try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
            #expect(server.hasRanges(from: 200_000, nil))
            let reason = "again from the start: another program has changed the part"
            #expect(response.head.attempts.first?.reason == reason)
        }
    }

    @Test(arguments: [0, 200_000]) func `a 200 with a range is not the whole file`(count: Int) async throws {
        let fault = FaultServer.Fault { connection in
            while true {
                try connection.read()
                try connection.send(
                    FaultServer.Fault.head(
                        length: 100_000, "ETag: \"v1\"\r\nContent-Range: bytes 200000-299999/300000\r\n"))
                try connection.send(Self.version.content.dropFirst(200_000))
            }
        }
        try await FaultServer.serving(fault) { server in
            if count > 0 { try server.leavePart(of: Self.version, in: folder) }
            await expectError(.unacceptableStatus) { try await server.download(to: folder) }
            #expect(folder.text(folder.file) == nil)
        }
    }
}

/// An authenticator for one user.
private func named(_ user: String) -> TestAuthenticator {
    TestAuthenticator { $0.setValue(user, forHTTPHeaderField: "Authorization") }
}
