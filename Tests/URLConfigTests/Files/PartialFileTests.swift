import Testing

@testable import URLConfig

/// A part that a later run continues, parts that cannot be continued, and what may happen before a file is in place.
@Suite(.inTime) struct PartialFileTests {
    private let folder = DownloadFolder()

    @Test func `a download is moved into place, and nothing else remains`() throws {
        var part = try folder.open()
        try part.restart(DownloadFolder.version("v1"), total: 10)
        try part.append(Data("01234".utf8))
        try part.append(Data())
        try part.append(Data("xx56789xx".utf8).dropFirst(2).dropLast(2))
        #expect(try folder.names == [".a.zip.urlconfig-part", ".a.zip.urlconfig-state"])
        try part.finish()
        #expect(try folder.names == ["a.zip"])
        #expect(folder.text(folder.file) == "0123456789")
        #expect(throws: URLError.self) { try part.append(Data("x".utf8)) }
        #expect(throws: Never.self) { try folder.open(overwrites: true) }
    }

    @Test(arguments: [0, 1, 5, 10, 65_536, 65_537, 200_000])
    func `the last bytes of an earlier run are compared with the server's bytes`(size: Int) throws {
        let content = FileServer.Version(1, size: 200_000).content
        for isChanged in [false, true] where !isChanged || size > 1 {
            try folder.leavePart(content.prefix(size), total: 200_000)
            var part = try folder.open()
            let start = size - min(max(0, size - 1), 65_536)
            #expect(part.resumption.start == Int64(start))
            if start > 0 { try part.resume(at: Int64(start), total: 200_000) } else { try part.restart(total: 200_000) }
            // In two pieces, of which the second one has the last byte of the part.
            let end = max(start, size - 1)
            try part.append(content[start..<end])
            var rest = content.dropFirst(end)
            if isChanged { rest = Data([rest[end] ^ 1]) + rest.dropFirst() }
            guard isChanged else {
                try part.append(rest)
                try part.finish()
                #expect(folder.has(content))
                try FileManager.default.removeItem(at: folder.file)
                continue
            }
            #expect(throws: PartialFile.Changed.self) { try part.append(rest) }
            #expect(part.resumption.start == 0)
            part.close()
            #expect(try folder.names == [])
        }
    }

    @Test(arguments: [0, 10, 65_535, 65_536, 65_540])
    func `short runs take nothing away from the part`(count: Int) throws {
        let content = FileServer.Version(1, size: 200_000).content
        try folder.leavePart(content.prefix(150_000), total: 200_000)
        for run in 1...3 {
            var part = try folder.open()
            let start = Int(part.resumption.start)
            try part.resume(at: Int64(start), total: 200_000)
            try part.append(content[start..<start + count])
            #expect(part.count == Int64(start + count))
            // As after a lost connection, in the same run.
            try part.resume(at: part.resumption.start, total: 200_000)
            part.close()
            let more = max(0, count - 65_536)
            #expect(try folder.open().count == Int64(150_000 - 65_536 + run * more))
        }
        var part = try folder.open()
        let start = Int(part.resumption.start)
        try part.resume(at: Int64(start), total: 200_000)
        try part.append(content.dropFirst(start))
        try part.finish()
        #expect(folder.has(content))
    }

    @Test func `a file of unknown length may end before the end of the part`() throws {
        try folder.leavePart(Data("0123456789".utf8), total: nil)
        var part = try folder.open()
        try part.begin(at: 1, DownloadFolder.version("v1"), total: nil, for: .anonymous)
        try part.append(Data("1234".utf8))
        try part.finish()
        #expect(folder.text(folder.file) == "01234")
    }

    @Test func `a length that is learned later is remembered`() throws {
        try folder.leavePart(total: nil)
        var part = try folder.open()
        try part.resume(at: 1, total: 10)
        try part.append(Data("1234".utf8))
        part.close()
        let fields: HTTPFields = [.contentRange: "bytes 1-9/*", .eTag: "\"v1\""]
        let decision = try folder.open().resumption.decision(.partialContent, fields, of: DownloadFolder.url)
        #expect(decision == .use(from: 1, DownloadFolder.version("v1"), total: 10))
    }

    @Test func `a part that no run can continue is removed`() throws {
        var fresh = try folder.open()
        fresh.close()
        #expect(try folder.names == [])
        var unnamed = try folder.open()
        try unnamed.restart(total: 10)
        try unnamed.append(Data("01234".utf8))
        #expect(unnamed.resumption.start == 0)
        unnamed.close()
        #expect(try folder.names == [])
    }

    @Test(
        arguments: [
            DownloadFolder.request("https://files.example.com/a.zip?id=2"),
            DownloadFolder.request("https://files.example.com/b.zip?id=1"),
            DownloadFolder.request("https://mirror.example.com/a.zip?id=1"),
            DownloadFolder.request(method: "POST"), DownloadFolder.request(fields: ["Accept": "text/csv"]),
            DownloadFolder.request(fields: ["accept-language": "de"]),
        ])
    func `the part of another request is not used`(request: URLRequest) throws {
        try folder.leavePart()
        // It is kept until the first response.
        var unused = try folder.open(request)
        unused.close()
        #expect(try folder.open().count == 1)
        var part = try folder.open(request)
        #expect(part.resumption.start == 0)
        // A method without ranges leaves nothing for a later run.
        try part.restart(DownloadFolder.version("v2"), total: 10)
        try part.append(Data("x".utf8))
        part.close()
        #expect(try folder.names.isEmpty == (request.httpMethod == "POST"))
    }

    @Test func `a fragment does not make another request, but credentials make another requester`() throws {
        try folder.leavePart()
        var part = try folder.open(DownloadFolder.request("https://files.example.com/a.zip?id=1#top"))
        #expect(part.count == 1)
        #expect(part.belongs(to: .anonymous))
        for url in ["https://u@h/", "https://:p@h/", "https://h/?token=1"] {
            #expect(!part.belongs(to: Requester(DownloadFolder.request(url))))
        }
        for name in ["Authorization", "cookie", "X-Api-Key"] {
            #expect(!part.belongs(to: Requester(DownloadFolder.request(fields: [name: "x"]))))
        }
        // From here on, the credentials may be renewed.
        let renewed = Requester(DownloadFolder.request(fields: ["Authorization": "new"]))
        try part.resume(at: 1, total: 10)
        #expect(part.belongs(to: renewed))
        try part.resume(at: 1, total: 10, for: renewed)
        try part.append(Data("1234".utf8))
        part.close()
        let later = try folder.open()
        #expect(later.belongs(to: renewed))
        #expect(!later.belongs(to: Requester(DownloadFolder.request())))
    }

    @Test func `fields of a trace are no credentials, which are the same in any order`() {
        func digest(_ fields: [String: String]) -> Digest {
            Requester(DownloadFolder.request(fields: fields)).digest(.known)
        }
        #expect(digest(["Cookie": "a", "Authorization": "b"]) == digest(["authorization": "b", "cookie": "a"]))
        #expect(digest(["Accept": "a", "traceparent": "00-1-2-01"]) == digest([:]))
        #expect(digest(["Authorization": "b"]) != digest([:]))
    }

    @Test(
        arguments: [
            (nil, "URLConfig download 3\n"), (nil, "URLConfig d"), (nil, "URLConfig download 3\n{"),
            (nil, "URLConfig download 3\n[]"), (nil, "URLConfig download 3\n" + String(repeating: "[", count: 5000)),
            ("\"total\":10", "\"total\":-1"), ("\"total\":10", "\"total\":4"), ("\"total\":10", "\"total\":1e99"),
            ("v1", "v1\\r\\nX: y"), (#"\"v1\""#, #"W/\"v1\""#), (#"\"v1\""#, "v1"), ("\"part\":\"", "\"part\":\"../"),
            ("\"part\":\"", "\"part\":\"x"),
        ] as [(String?, String)])
    func `a record that is damaged, or was changed, is ignored`(old: String?, new: String) throws {
        try folder.leavePart()
        let text = try #require(folder.text(folder.record))
        try #require(old.map { text.contains($0) } ?? true)
        try Data((old.map { text.replacing($0, with: new) } ?? new).utf8).write(to: folder.record)
        #expect(try folder.open().count == 0)
    }

    @Test func `the record contains no secrets, and is shorter after a longer one`() throws {
        let secret = "s3cret-value"
        let url = "https://user:\(secret)@files.example.com/a.zip?token=\(secret)"
        let request = DownloadFolder.request(url, fields: ["Authorization": secret, "Accept": secret])
        var part = try folder.open(request)
        for tag in [String(repeating: "a", count: 500), "a"] {
            let validator = StrongValidator([.eTag: "\"\(tag)\""], of: URL(string: url))
            try part.begin(at: 0, validator, total: 10, for: Requester(request))
            let text = try #require(folder.text(folder.record))
            #expect(!text.contains("s3cret"))
            #expect(!text.contains("files"))
        }
        try part.append(Data("01234".utf8))
        part.close()
        #expect(try folder.open(request).count == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.record.path())[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `the file has the permissions that Foundation gives a new one`() throws {
        let other = folder.url.appending(component: "other")
        _ = FileManager.default.createFile(atPath: other.path(), contents: nil)
        var part = try complete()
        try part.finish()
        let modes = try [other, folder.file].map {
            try FileManager.default.attributesOfItem(atPath: $0.path())[.posixPermissions] as? Int
        }
        #expect(modes[0] == modes[1])
    }

    private func complete(overwrites: Bool = false) throws -> PartialFile {
        var part = try folder.open(overwrites: overwrites)
        try part.restart(DownloadFolder.version("v1"), total: 3)
        try part.append(Data("new".utf8))
        return part
    }

    @Test(arguments: [false, true], [false, true])
    func `a file that appears during the download is overwritten only if that was allowed, and a directory never`(
        overwrites: Bool, isDirectory: Bool
    ) throws {
        var part = try complete(overwrites: overwrites)
        if isDirectory {
            try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
        } else {
            try Data("old".utf8).write(to: folder.file)
        }
        guard isDirectory || !overwrites else {
            try part.finish()
            #expect(folder.text(folder.file) == "new")
            return
        }
        let error = expectThrown(.invalidRequest) { try part.finish() }
        #expect(error?.reason.contains("'a.zip' exists already") == !overwrites)
        if !isDirectory { #expect(folder.text(folder.file) == "old") }
        #expect(folder.text(folder.part) == "new")
    }

    @Test func `a part with too few bytes is kept`() throws {
        try folder.leavePart()
        var part = try folder.open()
        let error = #expect(throws: URLError.self) { try part.finish() }
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.localizedDescription == "only 1 of 10 bytes of 'a.zip' have arrived")
        #expect(try folder.names == [".a.zip.urlconfig-part", ".a.zip.urlconfig-state"])
    }

    @Test(arguments: [0, 5]) func `a body that is longer than it says is discarded`(start: Int64) throws {
        try folder.leavePart()
        var part = try folder.open()
        try part.restart(DownloadFolder.version("v1"), total: start + 3)
        try part.append(Data(count: Int(start)))
        let error = #expect(throws: URLError.self) { try part.append(Data("long".utf8)) }
        #expect(error?.code == .cannotParseResponse)
        #expect(try folder.names == [])
        #expect(throws: URLError.self) { try part.append(Data("5".utf8)) }
        #expect(throws: URLError.self) { try part.finish() }
    }

    @Test(arguments: ["longer", "s", ""]) func `a part that another program has changed is discarded`(
        text: String
    ) throws {
        var part = try complete()
        let handle = try FileHandle(forWritingTo: folder.part)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        #expect(throws: URLError.self) { try part.finish() }
        #expect(try folder.names == [])
    }

    @Test func `files that were replaced are neither moved nor removed`() throws {
        var part = try complete()
        let files = [folder.part, folder.record]
        for file in files {
            try FileManager.default.removeItem(at: file)
            try Data("bad".utf8).write(to: file)
        }
        let error = #expect(throws: URLError.self) { try part.finish() }
        #expect(error?.code == .cannotMoveFile)
        part.close()
        #expect(try !folder.names.contains("a.zip"))
        #expect(files.map { folder.text($0) } == ["bad", "bad"])
    }

    @Test func `a part with two names is not written to`() throws {
        try folder.leavePart()
        let copy = folder.url.appending(component: "backup")
        try FileManager.default.linkItem(at: folder.part, to: copy)
        var part = try folder.open()
        #expect(part.count == 0)
        try part.restart(total: 1)
        try part.append(Data("x".utf8))
        #expect(folder.text(copy) == "01234")
    }

    #if os(Linux)
    /// In a separate process, whose files must not become longer, as on a full disk.
    @Test func `a full disk is named, and what was written before is kept`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let (folder, content) = (DownloadFolder(), FileServer.Version(1, size: 200_000))
            try await FileServer(content).serving { server in
                try await ChildProcess.limitingFiles(to: 100_000) {
                    let error = await expectError(.cannotWriteToFile) { try await server.download(to: folder) }
                    #expect(error?.localizedDescription == "'a.zip' cannot be written: File too large")
                    #expect((error?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EFBIG)
                }
                try await server.download(to: folder)
                #expect(server.ranges == [nil, "bytes=\(100_000 - 65_536)-"])
                let other = DownloadFolder()
                try await ChildProcess.limitingFiles(to: 0) {
                    await expectError(.cannotCreateFile) { try await server.download(to: other) }
                }
                #expect(try other.names == [])
            }
            #expect(folder.has(content.content))
        }
    }
    #endif
}
