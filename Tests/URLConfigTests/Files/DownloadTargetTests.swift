import Foundation
import Testing

@testable import URLConfig

/// What is checked before anything is sent.
@Suite struct DownloadTargetTests {
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    private func reason(_ url: URL, overwrites: Bool = false) -> String? {
        do {
            _ = try DownloadTarget(url, overwrites: overwrites)
            return nil
        } catch let error as RequestError where error.code == .invalidRequest {
            return error.reason
        } catch let error as URLError where error.code == .cannotCreateFile {
            return error.localizedDescription
        } catch {
            return "unexpected \(error)"
        }
    }

    @Test(arguments: ["https://example.com/a", "file://server/a", "data:,a", "a"])
    func `it is a local file`(text: String) throws {
        #expect(try reason(#require(URL(string: text))) == "the target is not the URL of a local file")
        #expect(reason(folder.file) == nil)
        #expect(try reason(#require(URL(string: "file://localhost" + folder.file.path()))) == nil)
    }

    @Test func `it is not a directory`() throws {
        let link = folder.url.appending(component: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        let new = folder.url.appending(component: "new", directoryHint: .isDirectory)
        for url in [folder.url, link, new, URL(filePath: "/"), URL(filePath: "..")] {
            #expect(reason(url, overwrites: true)?.hasSuffix("is a directory; add the name of a file") == true)
        }
    }

    @Test func `its folder exists`() throws {
        let url = folder.url.appending(components: "new", "a.zip")
        #expect(reason(url) == "the folder of 'a.zip' does not exist; create it")
        try Data().write(to: folder.file)
        let below = folder.file.appending(component: "b")
        #expect(reason(below) == "the file 'b' cannot be created in its folder: Not a directory")
    }

    @Test(.disabled(if: geteuid() == 0, "The superuser may write everywhere."))
    func `its folder is writable`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path())
        #expect(reason(folder.file) == "the file 'a.zip' cannot be created in its folder: Permission denied")
    }

    @Test func `it does not exist, or may be overwritten`() throws {
        try Data().write(to: folder.file)
        #expect(reason(folder.file)?.contains("exists already") == true)
        #expect(reason(folder.file, overwrites: true) == nil)
        let link = folder.url.appending(component: "link")
        try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: "nowhere")
        #expect(reason(link)?.contains("exists already") == true)
        #expect(reason(link, overwrites: true) == nil)
        #expect(reason(URL(filePath: "/dev/null"), overwrites: true) == "the target 'null' is not a regular file")
    }

    @Test func `its name may be as long as names can be`() throws {
        let name = String(repeating: "a", count: 255)
        for count in [220, 221, 255] {
            let url = folder.url.appending(component: String(name.prefix(count)))
            let part = try PartialFile(for: DownloadTarget(url, overwrites: false), of: DownloadFolder.request())
            try part.restart(DownloadFolder.version("v1"), total: 0)
            try part.finish()
        }
        #expect(try folder.names.count == 3)
        let longer = folder.url.appending(component: name + "b")
        #expect(reason(longer)?.hasSuffix("cannot be created: File name too long") == true)
    }

    @Test func `names are taken as they are, and shown without control characters`() throws {
        for name in ["%41 ?#ü.zip", "100%", ".hidden", "a\nb"] {
            let url = folder.url.appending(component: name)
            let part = try PartialFile(for: DownloadTarget(url, overwrites: false), of: DownloadFolder.request())
            try part.restart(total: 1)
            #expect(throws: URLError.self) { try part.finish() }
            try part.append(Data("x".utf8))
            try part.finish()
            #expect(try folder.names.contains(name))
            #expect(reason(url)?.contains("\n") == false)
        }
    }
}
