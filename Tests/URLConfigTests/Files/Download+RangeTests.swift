import Foundation
import HTTPTypes
import Testing

@testable import URLConfig

/// Servers that do something else with a range than they should.
@Suite(.inTime) struct DownloadRangeTests {
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

    #if os(Linux) || os(macOS)
    @Test(arguments: [0, 1000]) func `an encoded file that was not asked for is refused`(count: Int) async throws {
        let encoded = try Shell.run("head -c 300000 /dev/zero | gzip -9")
        let head = FaultServer.Fault.head(length: encoded.count, "ETag: \"v1\"\r\nContent-Encoding: gzip\r\n")
        let fault = FaultServer.Fault { connection in
            try connection.read()
            try connection.send(Data(head.utf8) + encoded)
        }
        try await FaultServer.serving(fault) { server in
            if count > 0 { try server.leavePart(count, of: Self.version, knowsTotal: false, in: folder) }
            let error = await expectError(.cannotDecodeContentData) { try await server.download(to: folder) }
            #expect(error?.localizedDescription.contains("is encoded ('gzip')") == true)
            #expect(folder.text(folder.file) == nil)
            #expect(try folder.open(server.request("a.zip")).count == count)
        }
    }
    #endif

}
