import Foundation
import HTTPTypes
import Testing

@testable import URLConfig

/// A part that a later run continues, and parts that cannot be continued.
@Suite struct PartialFileTests {
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    @Test func `a download is moved into place, and nothing else remains`() throws {
        let part = try folder.open()
        try part.restart(DownloadFolder.version("v1"), total: 10)
        try part.append(Data("01234".utf8))
        try part.append(Data())
        try part.append(Data("xx56789xx".utf8).dropFirst(2).dropLast(2))
        #expect(try folder.names == [".a.zip.urlconfig-part", ".a.zip.urlconfig-state"])
        try part.finish()
        #expect(try folder.names == ["a.zip"])
        #expect(folder.text(folder.file) == "0123456789")
    }

    @Test func `an interrupted download is continued in a later run`() throws {
        try folder.leavePart()
        let part = try folder.open()
        #expect(part.count == 5)
        #expect(part.resumption.start == 5)
        try part.resume(at: 5, total: 10)
        try part.append(Data("56789".utf8))
        try part.finish()
        #expect(folder.text(folder.file) == "0123456789")
    }

    @Test func `a complete part is continued with its last byte`() throws {
        try folder.leavePart(Data("0123456789".utf8))
        let part = try folder.open()
        #expect(part.resumption.start == 9)
        try part.resume(at: 9, total: 10)
        try part.append(Data("9".utf8))
        try part.finish()
        #expect(folder.text(folder.file) == "0123456789")
    }

    @Test func `a length that is learned later is remembered`() throws {
        try folder.leavePart(total: nil)
        let part = try folder.open()
        try part.resume(at: 5, total: 10)
        part.close()
        let fields: HTTPFields = [.contentRange: "bytes 5-9/*", .eTag: "\"v1\""]
        let decision = try folder.open().resumption.decision(.partialContent, fields, of: DownloadFolder.url)
        #expect(decision == .append(total: 10))
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
        part.close()
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
        let part = try folder.open(request)
        #expect(part.count == 0)
        #expect(part.resumption.start == 0)
        // A method without ranges leaves nothing for a later run.
        try part.restart(DownloadFolder.version("v2"), total: 10)
        try part.append(Data("x".utf8))
        part.close()
        #expect(try folder.names.isEmpty == (request.httpMethod == "POST"))
    }

    @Test func `a fragment does not make another request, but credentials make another requester`() throws {
        try folder.leavePart()
        let part = try folder.open(DownloadFolder.request("https://files.example.com/a.zip?id=1#top"))
        #expect(part.count == 5)
        #expect(part.belongs(to: .anonymous))
        for url in ["https://u@h/", "https://:p@h/", "https://h/?token=1"] {
            #expect(!part.belongs(to: Requester(DownloadFolder.request(url))))
        }
        for name in ["Authorization", "cookie", "X-Api-Key"] {
            #expect(!part.belongs(to: Requester(DownloadFolder.request(fields: [name: "x"]))))
        }
        // From here on, the credentials may be renewed.
        let renewed = Requester(DownloadFolder.request(fields: ["Authorization": "new"]))
        try part.resume(at: 5, total: 10)
        #expect(part.belongs(to: renewed))
        try part.resume(at: 5, total: 10, for: renewed)
        try part.append(Data("5".utf8))
        part.close()
        let later = try folder.open()
        #expect(later.belongs(to: renewed))
        #expect(!later.belongs(to: Requester(DownloadFolder.request())))
    }

    @Test func `a run that was killed leaves its last bytes to be verified`() throws {
        for text in ["56789", "xxxxx"] {
            try folder.leavePart(Data(count: 200_000) + Data("01234".utf8), total: 200_010, isKilled: true)
            let next = try folder.open()
            #expect(next.count == 200_005 - 65_536)
            try next.resume(at: next.count, total: 200_010)
            try next.append(Data(count: 65_531))
            try next.append(Data("01".utf8))
            if text == "56789" {
                try next.append(Data("23456789".utf8))
                #expect(!next.takeChange())
                try next.finish()
                #expect(folder.size(folder.file) == 200_010)
                try FileManager.default.removeItem(at: folder.file)
            } else {
                #expect(throws: URLError.self) { try next.append(Data("2x4".utf8)) }
                #expect(next.takeChange())
                #expect(next.resumption.start == 0)
                next.close()
                #expect(try folder.names == [])
            }
        }
    }

    @Test(
        arguments: [
            "", "{", "[]", "null", "{\"version\":1}", "\u{0}", String(repeating: " ", count: 5000),
            String(repeating: "[", count: 4096),
        ])
    func `a damaged record is ignored`(text: String) throws {
        try folder.leavePart()
        try Data(text.utf8).write(to: folder.record)
        #expect(try folder.open().count == 0)
    }

    @Test(
        arguments: [
            ("download 2", "download 3"), ("\"total\":10", "\"total\":-1"), ("\"total\":10", "\"total\":4"),
            ("\"total\":10", "\"total\":1e99"), ("v1", "v1\\r\\nX: y"), (#"\"v1\""#, #"W/\"v1\""#),
            (#"\"v1\""#, "v1"), ("\"inode\":", "\"inode\":1"),
        ])
    func `a record that was changed is ignored`(old: String, new: String) throws {
        try folder.leavePart()
        let text = try #require(folder.text(folder.record))
        try #require(text.contains(old))
        try Data(text.replacing(old, with: new).utf8).write(to: folder.record)
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
        #expect(folder.text(folder.part) == "abcde")
    }

    @Test func `the record contains no secrets`() throws {
        let secret = "s3cret-value"
        let url = "https://user:\(secret)@files.example.com/a.zip?token=\(secret)"
        let request = DownloadFolder.request(url, fields: ["Authorization": secret, "Accept": secret])
        try folder.open(request).restart(StrongValidator([.eTag: "\"a\""], of: URL(string: url)), total: 10)
        let text = try #require(folder.text(folder.record))
        #expect(!text.contains("s3cret"))
        #expect(!text.contains("files"))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.record.path())[.posixPermissions]
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
}
