import Foundation
import HTTPTypes
import Testing

@testable import URLConfig

/// A part that a later run continues, and parts that cannot be continued.
@Suite struct PartFileTests {
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    @Test func `a download is moved into place, and nothing else remains`() throws {
        let part = try folder.open()
        try part.restart(DownloadFolder.version("v1"), total: 10)
        try part.append(Data("01234".utf8))
        try part.append(Data())
        try part.append(Data("xx56789xx".utf8).dropFirst(2).dropLast(2))
        #expect(try folder.names == ["a.zip.part", "a.zip.part.json"])
        try part.finish()
        #expect(try folder.names == ["a.zip"])
        #expect(folder.text(folder.file) == "0123456789")
    }

    @Test func `an interrupted download is continued in a later run`() throws {
        try folder.leavePart()
        let part = try folder.open()
        #expect(part.count == 5)
        #expect(part.resumption.start == 5)
        try part.resume(5..<8, total: 10)
        try part.append(Data("567".utf8))
        #expect(part.needsMore)
        try part.resume(8..<10, total: 10)
        #expect(!part.needsMore)
        try part.append(Data("89".utf8))
        try part.finish()
        #expect(folder.text(folder.file) == "0123456789")
    }

    @Test func `a complete part is continued with its last byte`() throws {
        try folder.leavePart("0123456789")
        let part = try folder.open()
        #expect(part.resumption.start == 9)
        try part.resume(9..<10, total: 10)
        try part.append(Data("9".utf8))
        try part.finish()
        #expect(folder.text(folder.file) == "0123456789")
    }

    @Test func `a length that is learned later is remembered`() throws {
        try folder.leavePart(total: nil)
        try folder.open().resume(5..<10, total: 10)
        let fields: HTTPFields = [.contentRange: "bytes 5-9/*", .eTag: "\"v1\""]
        let decision = try folder.open().resumption.decision(.partialContent, fields, of: DownloadFolder.url)
        #expect(decision == .append(5..<10, total: 10))
    }

    @Test func `an empty file is a file`() throws {
        let part = try folder.open()
        try part.restart(total: 0)
        try part.finish()
        #expect(folder.text(folder.file) == "")
    }

    @Test func `without a version, a later run begins from the start`() throws {
        let part = try folder.open()
        try part.restart(total: 10)
        try part.append(Data("01234".utf8))
        #expect(part.resumption.start == 0)
        #expect(try folder.names == ["a.zip.part"])
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
        let part = try folder.open(request)
        #expect(part.count == 0)
        #expect(part.resumption.start == 0)
        // A method without ranges leaves nothing for a later run.
        try part.restart(DownloadFolder.version("v2"), total: 10)
        #expect(try folder.names.contains("a.zip.part.json") == (request.httpMethod == "GET"))
    }

    @Test func `credentials and a fragment do not make another request`() throws {
        try folder.leavePart()
        let request = DownloadFolder.request(
            "https://u:p@files.example.com/a.zip?id=1#top", fields: ["Authorization": "Bearer new"])
        #expect(try folder.open(request).count == 5)
    }

    @Test(
        arguments: [
            "", "{", "[]", "null", "{\"version\":1}", "\u{0}", String(repeating: " ", count: 5000),
            String(repeating: "[", count: 4096),
        ])
    func `a damaged sidecar is ignored`(text: String) throws {
        try folder.leavePart()
        try Data(text.utf8).write(to: folder.sidecar)
        #expect(try folder.open().count == 0)
    }

    @Test(
        arguments: [
            ("\"version\":1", "\"version\":2"), ("\"total\":10", "\"total\":-1"), ("\"total\":10", "\"total\":4"),
            ("\"total\":10", "\"total\":1e99"), ("v1", "v1\\r\\nX: y"), ("entityTag", "weak"),
            ("\"inode\":", "\"inode\":1"),
        ])
    func `a sidecar that was changed is ignored`(old: String, new: String) throws {
        try folder.leavePart()
        let text = try #require(folder.text(folder.sidecar))
        try #require(text.contains(old))
        try Data(text.replacing(old, with: new).utf8).write(to: folder.sidecar)
        #expect(try folder.open().count == 0)
    }

    @Test func `a part that another program has put there is not continued`() throws {
        try folder.leavePart()
        try FileManager.default.moveItem(at: folder.part, to: folder.url.appending(component: "old"))
        try Data("abcde".utf8).write(to: folder.part)
        let part = try folder.open()
        #expect(part.count == 0)
        try part.restart(total: 1)
        try part.append(Data("x".utf8))
        try part.finish()
        #expect(folder.text(folder.file) == "x")
    }

    @Test func `the sidecar contains no secrets`() throws {
        let secret = "s3cret-value"
        let url = "https://user:\(secret)@files.example.com/a.zip?token=\(secret)"
        let request = DownloadFolder.request(url, fields: ["Authorization": secret, "Accept": secret])
        try folder.open(request).restart(StrongValidator([.eTag: "\"a\""], of: URL(string: url)), total: 10)
        let text = try #require(folder.text(folder.sidecar))
        #expect(!text.contains("s3cret"))
        #expect(!text.contains("files"))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.sidecar.path())[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func `the file has the permissions that Foundation gives a new one`() throws {
        let other = folder.url.appending(component: "other")
        _ = FileManager.default.createFile(atPath: other.path(), contents: nil)
        let part = try folder.open()
        try part.restart(total: 0)
        try part.finish()
        let modes = try [other, folder.file].map {
            try FileManager.default.attributesOfItem(atPath: $0.path())[.posixPermissions] as? Int
        }
        #expect(modes[0] == modes[1])
    }

    @Test func `discarding removes everything`() throws {
        try folder.leavePart()
        let part = try folder.open()
        part.discard()
        #expect(try folder.names == [])
        #expect(throws: URLError.self) { try part.append(Data("x".utf8)) }
        #expect(throws: URLError.self) { try part.finish() }
        part.discard()
    }
}
