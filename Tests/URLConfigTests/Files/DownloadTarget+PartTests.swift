import Foundation
import Testing

@testable import URLConfig

/// What may be in the place of a part, who else may have it, and a disk that is full.
@Suite struct DownloadTargetPartTests {
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    @Test func `two downloads cannot have one target`() throws {
        let first = try folder.open()
        let error = #expect(throws: RequestError.self) { try folder.open() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("'a.zip' is being downloaded already") == true)
        try first.restart(total: 1)
        try first.append(Data("x".utf8))
        try first.finish()
        #expect(folder.text(folder.file) == "x")
        #expect(throws: Never.self) { try folder.open(overwrites: true) }
    }

    @Test func `the part is free when the download is released`() throws {
        for _ in 0..<3 { #expect(throws: Never.self) { try folder.leavePart() } }
    }

    #if os(Linux)
    @Test func `another process cannot have the target either`() throws {
        try folder.leavePart()
        let part = try folder.open()
        let command = "flock --nonblock '\(folder.part.path())' echo free || echo busy"
        #expect(String(decoding: try Shell.run(command), as: UTF8.self) == "busy\n")
        part.close()
    }

    @Test func `a full disk is named`() throws {
        let target = try DownloadTarget(folder.file, overwrites: false)
        let part = try PartialFile(
            for: target, of: DownloadFolder.request(), in: File("/dev/full", O_WRONLY | O_APPEND))
        try part.restart(DownloadFolder.version("v1"), total: 10)
        let error = #expect(throws: URLError.self) { try part.append(Data("0123".utf8)) }
        #expect(error?.code == .cannotWriteToFile)
        #expect(error?.localizedDescription == "'a.zip' cannot be written: No space left on device")
        #expect((error?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
        #expect(part.count == 0)
    }
    #endif

    @Test func `a symbolic link is not followed`() throws {
        let other = folder.url.appending(component: "other")
        try Data("precious".utf8).write(to: other)
        try FileManager.default.createSymbolicLink(at: folder.part, withDestinationURL: other)
        try folder.leavePart()
        #expect(folder.text(other) == "precious")
        #expect(try folder.names.contains(".a.zip.urlconfig-part1"))
        #expect(try folder.open().count == 5)
    }

    @Test func `a symbolic link in the place of the record is not followed`() throws {
        try folder.leavePart()
        let other = folder.url.appending(component: "other")
        try FileManager.default.moveItem(at: folder.record, to: other)
        let before = folder.text(other)
        try FileManager.default.createSymbolicLink(at: folder.record, withDestinationURL: other)
        let part = try folder.open()
        #expect(part.count == 0)
        try part.restart(DownloadFolder.version("v2"), total: 10)
        #expect(folder.text(other) == before)
    }

    @Test(arguments: ["part", "state", "new"], [false, true])
    func `a directory or a named pipe does not block, and is left alone`(kind: String, isPipe: Bool) throws {
        let url = folder.url.appending(component: ".a.zip.urlconfig-\(kind)")
        if isPipe {
            #expect(mkfifo(url.path(), 0o600) == 0)
        } else {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        }
        try folder.leavePart()
        #expect(try folder.open().count == 5)
        #expect(
            try folder.names
                == [
                    ".a.zip.urlconfig-\(kind)", ".a.zip.urlconfig-part1", ".a.zip.urlconfig-state1",
                ].sorted())
    }

    @Test func `a description of others that appears meanwhile is an error, and is left alone`() throws {
        let part = try folder.open()
        try Data("precious".utf8).write(to: folder.record)
        let error = #expect(throws: URLError.self) { try part.restart(DownloadFolder.version("v1"), total: 10) }
        #expect(error?.code == .cannotCreateFile)
        part.close()
        #expect(try folder.names == [".a.zip.urlconfig-state"])
        #expect(folder.text(folder.record) == "precious")
    }

    @Test func `if others have all names, an error says so`() throws {
        for index in 0..<8 {
            let name = ".a.zip.urlconfig-part\(index > 0 ? "\(index)" : "")"
            try Data("precious".utf8).write(to: folder.url.appending(component: name))
        }
        let before = try folder.names
        let error = #expect(throws: URLError.self) { try folder.open() }
        #expect(error?.code == .cannotCreateFile)
        #expect(error?.localizedDescription.hasPrefix("'.a.zip.urlconfig-part7' cannot be opened; remove it") == true)
        #expect(try folder.names == before)
    }
}
