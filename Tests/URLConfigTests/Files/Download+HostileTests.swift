import Testing

@testable import URLConfig

/// Servers that break the rules in the middle of a download.
@Suite(.inTime) struct DownloadHostileTests {
    /// A response, byte for byte.
    struct Reply: Sendable, CustomTestStringConvertible {
        let head: String
        var body = Data()
        var end = FaultServer.Fault.End.close

        var testDescription: String { head.split(separator: "\r\n").joined(separator: "|") }

        /// - Parameter fields: The header fields, with `|` between two of them.
        init(_ status: Int, _ fields: String = "", _ body: Data = Data(), then end: FaultServer.Fault.End = .close) {
            let lines = ["HTTP/1.1 \(status) Some"] + fields.split(separator: "|").map(String.init)
            head = lines.joined(separator: "\r\n") + "\r\n\r\n"
            (self.body, self.end) = (body, end)
        }

        func send(_ connection: FaultServer.Connection) throws {
            try connection.send(Data(head.utf8) + body)
            switch end {
            case .close: connection.close()
            case .reset: try connection.reset()
            case .hang: try connection.waitForEnd()
            }
        }
    }

    private static let version = FileServer.Version(1, size: 300_000)
    private static let new = FileServer.Version(2, size: 300_000)
    private static let rest = version.content.dropFirst(200_000)
    private let folder = DownloadFolder()

    /// Lends a server that sends these replies, and then one version of the file as it should.
    private static func serving(
        _ replies: [Reply], then version: FileServer.Version = version, _ body: (FaultServer) async throws -> Void
    ) async throws {
        let fault = FaultServer.Fault.numbered { number, request, connection in
            if number < replies.count {
                try replies[number].send(connection)
            } else {
                try FileServer.send(.init(version: version), to: request, connection)
            }
            return false
        }
        try await FaultServer.serving(fault, body)
    }

    @Test(arguments: ["", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT|", "ETag: W/\"v1\"|", "ETag: |"])
    func `the rest of a version without a name is not used`(fields: String) async throws {
        // The server ignores If-Range, and the file has changed.
        let unnamed = Reply(
            206, fields + "Content-Range: bytes 200000-299999/300000|Content-Length: 100000",
            Self.new.content.dropFirst(200_000))
        try await Self.serving([unnamed], then: Self.new) { server in
            try server.leavePart(of: Self.version, in: folder)
            try await server.download(to: folder)
            #expect(folder.has(Self.new.content))
            #expect(server.ranges == ["bytes=200000-", nil])
        }
    }

    @Test(arguments: ["ETag: \"v1\"", "ETag: \"v3\"|Transfer-Encoding: identity|Content-Length: 300000"])
    func `a body that ends with its connection is not shorter than the file`(fields: String) async throws {
        try await Self.serving([Reply(200, fields, Self.version.content.prefix(100_000))]) { server in
            try server.leavePart(of: Self.version, in: folder)
            await #expect(throws: URLError.self) { try await server.download(to: folder) }
            #expect(folder.size(folder.file) == 0)
            try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
        }
    }

    @Test func `its length is still known when the file is requested again from the start`() async throws {
        let cut = Reply(200, "ETag: \"v1\"", Self.version.content.prefix(100_000))
        try await Self.serving([Reply(416), cut]) { server in
            try server.leavePart(of: Self.version, in: folder)
            await #expect(throws: URLError.self) { try await server.download(to: folder) }
            #expect(server.ranges == ["bytes=200000-", nil])
            try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
        }
    }

    @Test(arguments: [
        Reply(416), Reply(416, "Content-Range: bytes */100"), Reply(206, "Content-Length: 5"),
        Reply(206, "Content-Type: multipart/byteranges; boundary=b|Content-Length: 5"),
        Reply(206, "ETag: \"v1\"|Content-Range: bytes 200000-200001/300000|Content-Length: 2"),
        Reply(206, "ETag: \"v2\"|Content-Range: bytes 200000-299999/300000|Content-Length: 100000"),
    ])
    func `the part is kept until the whole file arrives`(reply: Reply) async throws {
        for failure in [Reply(404, "Content-Length: 0"), Reply(503, "Content-Length: 0"), Reply(206)] {
            try await Self.serving([reply, failure]) { server in
                try server.leavePart(of: Self.version, in: folder)
                await #expect(throws: RequestError.self) { try await server.download(to: folder) }
                #expect(server.ranges == ["bytes=200000-", nil])
                try await server.download(to: folder)
                #expect(folder.has(Self.version.content))
                #expect(server.ranges.last == "bytes=200000-")
                try FileManager.default.removeItem(at: folder.file)
            }
        }
    }

    @Test(arguments: [204, 302, 304, 401, 404, 412, 429, 500, 999])
    func `a response that is not a file leaves the part`(status: Int) async throws {
        let refusal = Reply(status, [204, 304].contains(status) ? "ETag: \"v1\"" : "Content-Length: 0")
        try await Self.serving([refusal]) { server in
            try server.leavePart(of: Self.version, in: folder)
            let error = await #expect(throws: RequestError.self) { try await server.download(to: folder) }
            #expect(error?.response?.status.code == status)
            try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
            #expect(server.ranges == ["bytes=200000-", "bytes=200000-"])
        }
    }

    @Test(arguments: FileServer.Ranges.allCases, [false, true])
    func `the file is one version, whatever the server sends`(ranges: FileServer.Ranges, isNew: Bool) async throws {
        let server = FileServer { number, _ in
            number == 0
                ? .init(version: Self.version, cut: .init(count: 200_000))
                : .init(version: isNew ? Self.new : Self.version, ranges: ranges)
        }
        try await server.serving { server in
            let response = try await server.download(to: folder, attempts: 2)
            #expect(folder.has(isNew ? Self.new.content : Self.version.content))
            #expect(server.ranges[0] == nil && server.ranges[1] != nil)
            let isPart = response.head.status == .partialContent
            #expect(isPart == (!isNew && [.correct, .withoutCondition].contains(ranges)))
            #expect(response.head.attempts.count == server.requests.count)
        }
    }

    #if os(Linux) || os(macOS)
    @Test(arguments: [0, 1000]) func `an encoded file that was not asked for is refused`(count: Int) async throws {
        let encoded = try Shell.run("head -c 300000 /dev/zero | gzip -9")
        let reply = Reply(200, "ETag: \"v1\"|Content-Encoding: gzip|Content-Length: \(encoded.count)", encoded)
        try await Self.serving([reply]) { server in
            if count > 0 { try server.leavePart(count, of: Self.version, knowsTotal: false, in: folder) }
            let error = await expectError(.cannotDecodeContentData) { try await server.download(to: folder) }
            #expect(error?.localizedDescription.contains("is encoded ('gzip')") == true)
            #expect(folder.text(folder.file) == nil)
            #expect(try folder.open(server.request("a.zip")).count == count)
        }
    }

    @Test(arguments: ["gzip, chunked", "gzip\r\nTransfer-Encoding: chunked", "deflate,chunked"], [1, 2])
    func `a file that was encoded for its way, perhaps cut, is refused`(codings: String, part: Int) async throws {
        let encoded = try Shell.run("head -c 300000 /dev/zero | gzip -9")
        let piece = encoded.prefix(encoded.count / part)
        let fault = FaultServer.Fault.reading { connection in
            try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: \(codings)\r\n\r\n")
            try connection.send(Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n0\r\n\r\n".utf8))
            try connection.waitForEnd()
        }
        try await FaultServer.serving(fault) { server in
            await expectError(.cannotDecodeContentData) {
                try await server.session.download(for: server.request("/a"), to: folder.file, config: .silent)
            }
            #expect(folder.text(folder.file) == nil)
        }
    }
    #endif

    @Test(arguments: [version, new])
    func `a part with all bytes of a file of unknown length is downloaded again`(
        current: FileServer.Version
    ) async throws {
        try await Self.serving([Reply(416, "Content-Range: bytes */300000")], then: current) { server in
            try server.leavePart(300_000, of: Self.version, knowsTotal: false, in: folder)
            try await server.download(to: folder)
            #expect(folder.has(current.content))
            #expect(server.hasRanges(from: 300_000, nil))
        }
    }

    @Test func `chunks of which only the last is missing are not a file`() async throws {
        let size = String(Self.version.content.count, radix: 16)
        let body = Data("\(size)\r\n".utf8) + Self.version.content + Data("\r\n".utf8)
        try await Self.serving([Reply(200, "ETag: \"v1\"|Transfer-Encoding: chunked", body)]) { server in
            try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.version.content))
            if !TransportOfTests.isAsyncHTTPClient { #expect(server.ranges == [nil, "bytes=300000-", nil]) }
        }
    }

    @Test(
        arguments: [
            // Less than Content-Range says, without its end, and interrupted.
            (50_000, "0\r\n\r\n", .close), (100_000, "", .close), (50_000, "", .reset), (0, "0\r\n\r\n", .close),
        ] as [(Int, String, FaultServer.Fault.End)])
    func `chunks of a range add what arrives`(count: Int, last: String, end: FaultServer.Fault.End) async throws {
        let chunk = Data("\(String(count, radix: 16))\r\n".utf8) + Self.rest.prefix(count) + Data("\r\n".utf8)
        let body = (count > 0 ? chunk : Data()) + Data(last.utf8)
        let range = "Content-Range: bytes 200000-299999/300000"
        let reply = Reply(206, "ETag: \"v1\"|\(range)|Transfer-Encoding: chunked", body, then: end)
        try await Self.serving([reply]) { server in
            try server.leavePart(of: Self.version, in: folder)
            try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.version.content))
            #expect(server.ranges.allSatisfy { $0 != nil })
        }
    }

    @Test func `chunks that are longer than their range are not used`() async throws {
        let body = Data("186a1\r\n".utf8) + Self.rest + Data("x\r\n0\r\n\r\n".utf8)
        let fields = "ETag: \"v1\"|Content-Range: bytes 200000-299999/300000|Transfer-Encoding: chunked"
        try await Self.serving([Reply(206, fields, body)]) { server in
            try server.leavePart(of: Self.version, in: folder)
            // Even if the caller retries it: there is no part any more.
            await expectError(.cannotParseResponse) {
                try await server.download(to: folder, attempts: 2) { $0.retry.errors.insert(.cannotParseResponse) }
            }
            #expect(try folder.names == [])
            #expect(server.requests.count == 1)
        }
    }

    /// What a server does with each range, so that nothing that arrives is of use.
    enum Trap: CaseIterable {
        case refused, withoutRange, otherVersion, otherLength, tooShort, ignored
    }

    @Test(arguments: Trap.allCases) func `a server cannot cause requests forever`(trap: Trap) async throws {
        let fault = FaultServer.Fault.numbered { number, request, connection in
            func send(_ reply: Reply) throws -> Bool {
                try reply.send(connection)
                return false
            }
            // So that the test fails, and does not run forever.
            guard number < 100 else { return try send(Reply(404, "Content-Length: 0")) }
            let tag = trap == .ignored ? "ETag: \"v\(number)\"" : "ETag: \"v1\""
            // AsyncHTTPClient may lose the end of it.
            let whole = Reply(200, "\(tag)|Content-Length: 300000", Self.version.content.prefix(100_000))
            guard trap != .ignored, let range = request.field("Range") else { return try send(whole) }
            let start = Int(range.filter(\.isNumber)) ?? 0
            let fields =
                switch trap {
                case .withoutRange: tag
                case .otherVersion: "ETag: \"v\(number)\"|Content-Range: bytes \(start)-299999/300000"
                case .tooShort: "\(tag)|Content-Range: bytes \(start)-\(start + 99_999)/300000"
                default: "\(tag)|Content-Range: bytes \(start)-299999/\(300_001 + number)"
                }
            return try send(trap == .refused ? Reply(416, "Content-Length: 0") : Reply(206, fields))
        }
        try await FaultServer.serving(fault) { server in
            await #expect(throws: URLError.self) { try await server.download(to: folder, attempts: 4) }
            #expect(folder.size(folder.file) == 0)
            // Only what is more than before is progress, and each attempt may need two requests.
            #expect(4...16 ~= server.requests.count)
        }
    }

    @Test(arguments: [
        [Reply(206, "ETag: \"v1\"|Content-Range: bytes 200000-299999/300000", then: .hang)],
        [Reply(206, "ETag: \"v1\"|Content-Range: bytes 200000-299999/300000", Data(Self.rest.prefix(1)), then: .hang)],
        [Reply(201, "Content-Length: 9", then: .hang)], [Reply(404, "Content-Length: 9", then: .hang)],
        [Reply(416, "Content-Length: 9", then: .hang), Reply(201, "Content-Length: 9", then: .hang)],
    ])
    func `no silence is longer than the deadline, and the part is kept`(replies: [Reply]) async throws {
        try await Self.serving(replies) { server in
            try server.leavePart(of: Self.version, in: folder)
            await expectError(.deadlineExceeded) {
                try await server.download(to: folder, attempts: 9) { $0.deadline = .seconds(1) }
            }
            // A later run requests the last 64 kB again, as this one did.
            #expect(try folder.open(server.request("a.zip")).count == 200_000)
        }
    }

    @Test func `another origin receives the range, but no credentials`() async throws {
        try await FileServer(Self.version, cuts: [.init(count: 150_000)]).serving { other in
            let away = Reply(302, "Location: \(other.host)/b.zip|Content-Length: 0")
            try await Self.serving([away, away]) { server in
                var request = server.request("a.zip?token=s3cret")
                request.setValue("Bearer s3cret", forHTTPHeaderField: "Authorization")
                try await server.download(request, to: folder, attempts: 2)
                #expect(folder.has(Self.version.content))
                #expect(other.hasRanges(from: nil, 150_000))
                #expect(other.requests.allSatisfy { !$0.head.contains("s3cret") })
                #expect(server.requests.allSatisfy { $0.field("Authorization") == "Bearer s3cret" })
            }
        }
    }
}
