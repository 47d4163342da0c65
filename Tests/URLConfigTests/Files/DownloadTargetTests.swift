import Testing

@testable import URLConfig

/// What is checked before anything is sent, and what may be in the place of the files beside the target.
@Suite struct DownloadTargetTests {
    private let folder = DownloadFolder()

    /// Why a target, or the part of it, cannot be used; `nil` if it can.
    private func reason(_ url: URL? = nil, overwrites: Bool = false) -> String? {
        do {
            _ = try DownloadTarget(url ?? folder.file, overwrites: overwrites).openState()
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
        let (remote, local) = (URL(string: text), URL(string: "file://localhost" + folder.file.path()))
        #expect(reason(remote) == "the target is not a local file URL")
        #expect(reason() == nil)
        #expect(reason(local) == nil)
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
        let start = "the file 'b' cannot be created in its folder: "
        #expect(reason(folder.url.appending(components: "new", "b")) == start + "No such file or directory")
        try Data().write(to: folder.file)
        #expect(reason(folder.file.appending(component: "b")) == start + "Not a directory")
    }

    @Test(.disabled(if: geteuid() == 0, "The superuser may write everywhere."))
    func `its folder is writable`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path())
        #expect(reason() == "the file 'a.zip' cannot be created in its folder: Permission denied")
    }

    @Test func `it does not exist, or may be overwritten`() throws {
        try Data().write(to: folder.file)
        #expect(reason()?.contains("exists already") == true)
        #expect(reason(overwrites: true) == nil)
        let link = folder.url.appending(component: "link")
        try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: "nowhere")
        #expect(reason(link)?.contains("exists already") == true)
        #expect(reason(link, overwrites: true) == nil)
        #expect(reason(URL(filePath: "/dev/null"), overwrites: true) == "the target 'null' is not a regular file")
    }

    @Test func `its name may be anything, and as long as names can be`() throws {
        let name = String(repeating: "a", count: 255)
        let names = [200, 201, 255].map { String(name.prefix($0)) } + ["%41 ?#ü.zip", "100%", ".hidden", "a\nb"]
        for name in names {
            let url = folder.url.appending(component: name)
            var part = try PartialFile(for: DownloadTarget(url, overwrites: false), of: DownloadFolder.request())
            try part.restart(DownloadFolder.version("v1"), total: 0)
            try part.finish()
            #expect(try folder.names.contains(name))
            #expect(reason(url)?.contains("\n") == false)
        }
        #expect(try folder.names.count == names.count)
        let longer = folder.url.appending(component: name + "b")
        #expect(reason(longer)?.hasSuffix("cannot be created: File name too long") == true)
    }

    @Test func `a file that another download has made just before is not overwritten`() throws {
        let target = try DownloadTarget(folder.file, overwrites: false)
        try Data("other".utf8).write(to: folder.file)
        let error = #expect(throws: RequestError.self) { try PartialFile(for: target, of: DownloadFolder.request()) }
        #expect(error?.reason.contains("exists already") == true)
        #expect(try folder.names == ["a.zip"])
    }

    @Test func `only one download at a time has it`() throws {
        let first = try folder.open()
        #expect(reason() == "'a.zip' is being downloaded already; wait, or choose another name")
        #if os(Linux)
        let command = "flock --nonblock '\(folder.record.path())' echo free || echo busy"
        #expect(String(decoding: try Shell.run(command), as: UTF8.self) == "busy\n")
        #endif
        var last = first
        last.close()
    }

    @Test(arguments: ["text", "directory", "pipe", "link", "second name"])
    func `a file of others in the place of the state is an error, and left alone`(kind: String) throws {
        let other = folder.url.appending(component: "other")
        try Data("URLConfig download 3\n".utf8).write(to: other)
        switch kind {
        case "text": try Data("precious".utf8).write(to: folder.record)
        case "directory":
            try FileManager.default.createDirectory(at: folder.record, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(folder.record.path(), 0o600) == 0)
        case "link": try FileManager.default.createSymbolicLink(at: folder.record, withDestinationURL: other)
        default: try FileManager.default.linkItem(at: other, to: folder.record)
        }
        let error = #expect(throws: (any Error).self) { try folder.open() }
        if kind == "text" {
            let reason = "'.a.zip.urlconfig-state' was not made by this library; remove it"
            #expect((error as? URLError)?.localizedDescription == reason)
        }
        #expect(try folder.names == [".a.zip.urlconfig-state", "other"])
        #expect(folder.text(other) == "URLConfig download 3\n")
        if kind == "text" { #expect(folder.text(folder.record) == "precious") }
    }
}
