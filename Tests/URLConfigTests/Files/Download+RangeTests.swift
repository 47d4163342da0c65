import Foundation
import HTTPTypes
import Testing

@testable import URLConfig

/// Servers that do something else with a range than they should.
@Suite(.timeLimit(.minutes(10))) struct DownloadRangeTests {
    private static let version = FileServer.Version(1, size: 300_000)
    private static let new = FileServer.Version(2, size: 300_000)
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

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

    @Test(arguments: [
        ("", nil), ("ETag: W/\"v1\"\r\n", nil), ("ETag: v1\r\n", nil),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", nil),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:00 GMT\r\n", nil),
        (
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:51:00 GMT\r\n",
            "Sun, 06 Nov 1994 08:49:37 GMT"
        ),
    ])
    func `only a strong validator allows a range`(fields: String, validator: String?) async throws {
        let version = Self.version.with(fields, validator: validator)
        try await FileServer(version, cuts: [.init(count: 200_000)]).serving { server in
            try await server.download(to: folder, attempts: 2)
            #expect(folder.has(version.content))
            #expect(server.hasRanges(from: nil, validator == nil ? nil : 200_000))
            #expect(server.requests.last?.field("If-Range") == validator)
        }
    }

    @Test(arguments: [0, 1000]) func `an encoded file that was not asked for is refused`(count: Int) async throws {
        let encoded = try Shell.run("head -c 300000 /dev/zero | gzip -9")
        let head = FaultServer.Fault.head(length: encoded.count, "ETag: \"v1\"\r\nContent-Encoding: gzip\r\n")
        let fault = FaultServer.Fault { connection in
            try connection.read()
            try connection.send(Data(head.utf8) + encoded)
        }
        try await FaultServer.serving(fault) { server in
            if count > 0 { try server.leavePart(count, of: Self.version, knowsTotal: false, in: folder) }
            let error = await #expect(throws: URLError.self) { try await server.download(to: folder) }
            #expect(error?.code == .cannotDecodeContentData)
            #expect(error?.localizedDescription.contains("is encoded ('gzip')") == true)
            #expect(folder.text(folder.file) == nil)
            #expect(try folder.open(server.request("a.zip")).count == count)
        }
    }

    @Test func `chunks without their end are not a file`() async throws {
        for fault in [FaultServer.Fault.truncatedChunks, .unfinishedChunks] {
            try await FaultServer.serving(fault) { server in
                await #expect(throws: URLError.self) { try await server.download(to: folder, attempts: 2) }
                #expect(server.requests.count == 2)
                #expect(folder.text(folder.file) == nil)
            }
        }
    }

    @Test func `a range that is requested although the file has another version is not used`() async throws {
        // The server ignores If-Range, and its fields lie about the version.
        let lying = Self.new.with("", validator: nil)
        let server = FileServer { number, _ in
            number == 0
                ? .init(version: Self.version, cut: .init(count: 200_000))
                : .init(version: number == 1 ? Self.new : lying, ranges: .withoutCondition)
        }
        try await server.serving { server in
            try await server.download(to: folder, attempts: 2)
            #expect(folder.has(Self.new.content))
            #expect(server.hasRanges(from: nil, 200_000, nil))
        }
    }
}
