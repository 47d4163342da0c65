import Testing

@testable import URLConfig

/// Downloads, and how they continue in a later run.
@Suite(.inTime) struct DownloadTests {
    private static let version = FileServer.Version(1, size: 300_000)
    private let folder = DownloadFolder()

    @Test func `a file is downloaded, and nothing else remains`() async throws {
        try await FileServer(Self.version).serving { server in
            let response = try await server.download(server.request("a.zip?token=s3cret"), to: folder)
            #expect(folder.has(Self.version.content))
            #expect(try folder.names == ["a.zip"])
            #expect(response.head.status == .ok)
            #expect(response.file == folder.file)
            #expect(response.byteCount == 300_000)
            #expect(response.head.headerFields[.eTag] == "\"v1\"")
            #expect(response.head.attempts.count == 1)
            #expect(response.head.url?.path() == "/a.zip")
            #expect(response.head.request.value(forHTTPHeaderField: "Accept-Encoding") == "identity")
            #expect(response.head.duration >= response.head.attempts[0].duration)
            #expect(response.description.hasSuffix(", 300.0 kB in a.zip"))
            #expect(!"\(response)".contains("s3cret"))
            var dumped = ""
            dump(response, to: &dumped)
            #expect(!dumped.contains("s3cret"))
        }
    }

    @Test(arguments: [0, 1]) func `a small file is a file`(size: Int) async throws {
        let version = FileServer.Version(1, size: size)
        try await FileServer(version).serving { server in
            let response = try await server.download(to: folder)
            #expect(response.byteCount == Int64(size))
            #expect(folder.has(version.content))
        }
    }

    @Test(arguments: [FaultServer.Fault.End.close, .reset]) func `a later run requests only the rest`(
        end: FaultServer.Fault.End
    ) async throws {
        try await FileServer(Self.version, cuts: [.init(count: 200_000, end: end)]).serving { server in
            let error = await expectError(.networkConnectionLost) { try await server.download(to: folder) }
            #expect(error?.attempts.count == 1)
            #expect(error?.attempts.first?.status == .ok)
            #expect(error?.attempts.first?.error is URLError)
            let count = try folder.open(server.request("a.zip")).count
            let response = try await server.download(to: folder)
            #expect(folder.has(Self.version.content))
            #expect(try folder.names == ["a.zip"])
            #expect(response.byteCount == 300_000)
            #expect(response.head.status == (count > 0 ? .partialContent : .ok))
            #expect(server.ranges == [nil, count > 0 ? "bytes=\(count)-" : nil])
            // A reset may take what has not been read yet.
            if case .close = end, !TransportOfTests.isAsyncHTTPClient { #expect(count == 200_000 - 65_536) }
        }
    }

    @Test func `progress counts the whole file`() async throws {
        try await FileServer(Self.version).serving { server in
            try server.leavePart(of: Self.version, in: folder)
            let reports = Recorder<TransferProgress>()
            try await server.download(to: folder) { $0.progress = { reports.note($0) } }
            let all = reports.entries
            #expect(all.allSatisfy { $0.totalBytesToReceive == 300_000 })
            #expect(all.allSatisfy { $0.bytesReceived >= 200_000 })
            #expect(all.last?.bytesReceived == 300_000)
        }
    }

    @Test func `an existing file is replaced when the new one is whole`() async throws {
        try Data("old".utf8).write(to: folder.file)
        try await FileServer(Self.version, cuts: [.init(count: 200_000)]).serving { server in
            let error = await expectError(.invalidRequest) { try await server.download(to: folder) }
            #expect(error?.request != nil)
            #expect(server.requests.isEmpty)
            #expect(try folder.names == ["a.zip"])
            await #expect(throws: URLError.self) { try await server.download(to: folder, overwrites: true) }
            #expect(folder.text(folder.file) == "old")
            try await server.download(to: folder, overwrites: true)
            #expect(folder.has(Self.version.content))
        }
    }

    @Test func `a request that cannot be downloaded is not sent`() async throws {
        try await FileServer(Self.version).serving { server in
            for change in [{ $0.httpMethod = "HEAD" }, { $0.setValue("bytes=1-2", forHTTPHeaderField: "Range") }]
                as [(inout URLRequest) -> Void]
            {
                var request = server.request("a.zip")
                change(&request)
                await expectError(.invalidRequest) { try await server.download(request, to: folder) }
            }
            let error = await #expect(throws: RequestError.self) {
                try await server.session.download(for: server.request(), to: folder.url, config: .silent)
            }
            #expect(error?.reason.contains("is a directory") == true)
            await #expect(throws: RequestError.self) { try await server.download(to: folder) { $0.deadline = .zero } }
            #expect(server.requests.isEmpty)
            let names = try folder.names
            #expect(names == [])
        }
    }
}
