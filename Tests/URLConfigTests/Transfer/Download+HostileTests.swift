import Foundation
import HTTPTypes
import Testing

@testable import URLConfig

/// Servers that break the rules in the middle of a download.
@Suite(.timeLimit(.minutes(10))) struct DownloadHostileTests {
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
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    /// Lends a server that sends these replies, and then one version of the file as it should.
    private static func serving(
        _ replies: [Reply], then version: FileServer.Version = version, _ body: (FaultServer) async throws -> Void
    ) async throws {
        let count = Locked(0)
        let fault = FaultServer.Fault { connection in
            let request = try connection.read()
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            if number < replies.count { return try replies[number].send(connection) }
            try FileServer.send(.init(version: version), to: request, connection)
            connection.close()
        }
        try await FaultServer.serving(fault, body)
    }

    /// Leaves the first bytes of a version behind, as an earlier run does.
    private func leavePart(
        _ count: Int = 200_000, of version: FileServer.Version = version, total: Int64? = 300_000,
        for server: FaultServer
    ) throws {
        let request = server.request("a.zip")
        let part = try folder.open(request)
        try part.restart(StrongValidator([.eTag: version.validator ?? ""], of: request.url), total: total)
        try part.append(version.content.prefix(count))
        part.close()
    }

    @Test(arguments: ["", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT|", "ETag: W/\"v1\"|", "ETag: |"])
    func `the rest of a version without a name is not used`(fields: String) async throws {
        // The server ignores If-Range, and the file has changed.
        let unnamed = Reply(
            206, fields + "Content-Range: bytes 200000-299999/300000|Content-Length: 100000",
            Self.new.content.dropFirst(200_000))
        try await Self.serving([unnamed], then: Self.new) { server in
            try leavePart(for: server)
            try await server.download(to: folder)
            #expect(folder.has(Self.new.content))
            #expect(server.ranges == ["bytes=200000-", nil])
        }
    }

    @Test(arguments: ["ETag: \"v1\"", "ETag: \"v3\"|Transfer-Encoding: identity|Content-Length: 300000"])
    func `a body that ends with its connection is not shorter than the file`(fields: String) async throws {
        try await Self.serving([Reply(200, fields, Self.version.content.prefix(100_000))]) { server in
            try leavePart(for: server)
            await #expect(throws: URLError.self) { try await server.download(to: folder) }
            #expect(folder.size(folder.file) == 0)
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
                try leavePart(for: server)
                await #expect(throws: RequestError.self) { try await server.download(to: folder) }
                #expect(server.ranges == ["bytes=200000-", nil])
                try await server.download(to: folder)
                #expect(folder.has(Self.version.content))
                #expect(server.ranges.last == "bytes=200000-")
                try FileManager.default.removeItem(at: folder.file)
            }
        }
    }

    @Test func `a new version is downloaded although the line breaks off again and again`() async throws {
        let new = FileServer.Version(2, size: 1_000_000)
        try await FileServer { _, _ in .init(version: new, cut: .init(count: 200_000)) }.serving { server in
            try leavePart(900_000, of: .init(1, size: 1_000_000), total: 1_000_000, for: server)
            try await server.download(to: folder, attempts: 2)
            #expect(folder.has(new.content))
        }
    }

    @Test(arguments: [version, new])
    func `a part with all bytes of a file of unknown length is complete`(current: FileServer.Version) async throws {
        // The server does not look at If-Range before it refuses the range.
        try await Self.serving([Reply(416, "Content-Range: bytes */300000")], then: current) { server in
            try leavePart(300_000, total: nil, for: server)
            let response = try await server.download(to: folder)
            #expect(folder.has(current.content))
            #expect(server.ranges == ["bytes=300000-", "bytes=299999-"])
            #expect(response.status == (current.validator == "\"v1\"" ? .partialContent : .ok))
        }
    }

    @Test func `chunks of which only the last is missing are requested once`() async throws {
        let size = String(Self.version.content.count, radix: 16)
        let body = Data("\(size)\r\n".utf8) + Self.version.content + Data("\r\n".utf8)
        try await Self.serving([Reply(200, "ETag: \"v1\"|Transfer-Encoding: chunked", body)]) { server in
            try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.version.content))
            if !TransportOfTests.isAsyncHTTPClient { #expect(server.ranges.count { $0 == nil } == 1) }
        }
    }

    @Test(arguments: [
        [Reply(206, "ETag: \"v1\"|Content-Range: bytes 200000-299999/300000", then: .hang)],
        [Reply(206, "ETag: \"v1\"|Content-Range: bytes 200000-299999/300000", Data("0".utf8), then: .hang)],
        [Reply(201, "Content-Length: 9", then: .hang)], [Reply(404, "Content-Length: 9", then: .hang)],
        [Reply(416, "Content-Length: 9", then: .hang), Reply(201, "Content-Length: 9", then: .hang)],
    ])
    func `no silence is longer than the deadline, and the part is kept`(replies: [Reply]) async throws {
        try await Self.serving(replies) { server in
            try leavePart(for: server)
            let error = await #expect(throws: RequestError.self) {
                try await server.download(to: folder, attempts: 9) { $0.deadline = .seconds(1) }
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(try folder.open(server.request("a.zip")).count >= 200_000)
        }
    }
}
