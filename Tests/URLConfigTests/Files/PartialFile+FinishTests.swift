import Foundation
import Testing

@testable import URLConfig

/// What may happen before a finished download is in place.
@Suite struct PartialFileFinishTests {
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    private func complete(overwrites: Bool = false) throws -> PartialFile {
        let part = try folder.open(overwrites: overwrites)
        try part.restart(DownloadFolder.version("v1"), total: 3)
        try part.append(Data("new".utf8))
        return part
    }

    @Test func `a file that appears meanwhile is not overwritten, and the part is kept`() throws {
        let part = try complete()
        try Data("old".utf8).write(to: folder.file)
        let error = #expect(throws: RequestError.self) { try part.finish() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.contains("'a.zip' exists already") == true)
        #expect(folder.text(folder.file) == "old")
        #expect(folder.text(folder.part) == "new")
    }

    @Test func `a file is overwritten if that was allowed`() throws {
        try Data("old".utf8).write(to: folder.file)
        try complete(overwrites: true).finish()
        #expect(folder.text(folder.file) == "new")
        #expect(try folder.names == ["a.zip"])
    }

    @Test(arguments: [false, true]) func `a directory that appears meanwhile remains`(overwrites: Bool) throws {
        let part = try complete(overwrites: overwrites)
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
        #expect(throws: (any Error).self) { try part.finish() }
        #expect(folder.text(folder.part) == "new")
    }

    @Test func `a part with too few bytes is kept`() throws {
        try folder.leavePart()
        let part = try folder.open()
        let error = #expect(throws: URLError.self) { try part.finish() }
        #expect(error?.code == .networkConnectionLost)
        #expect(error?.localizedDescription == "only 5 of 10 bytes of 'a.zip' have arrived")
        #expect(try folder.names == [".a.zip.urlconfig-part", ".a.zip.urlconfig-state"])
    }

    @Test func `a body that is longer than it says is discarded`() throws {
        let part = try folder.open()
        try part.restart(DownloadFolder.version("v1"), total: 3)
        let error = #expect(throws: URLError.self) { try part.append(Data("long".utf8)) }
        #expect(error?.code == .cannotParseResponse)
        #expect(try folder.names == [])
    }

    @Test func `a range that is longer than it says is discarded`() throws {
        try folder.leavePart()
        let part = try folder.open()
        try part.resume(at: 5, total: 7)
        #expect(throws: URLError.self) { try part.append(Data("567".utf8)) }
        #expect(try folder.names == [])
        #expect(throws: URLError.self) { try part.append(Data("5".utf8)) }
        #expect(throws: URLError.self) { try part.finish() }
    }

    @Test(arguments: ["longer", "s"]) func `a part that another program has changed is discarded`(text: String) throws {
        let part = try complete()
        let handle = try FileHandle(forWritingTo: folder.part)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        #expect(throws: URLError.self) { try part.finish() }
        #expect(try folder.names == [])
    }

    @Test func `a part that was shortened meanwhile gets no hole`() throws {
        let part = try folder.open()
        try part.restart(DownloadFolder.version("v1"), total: 6)
        try part.append(Data("012".utf8))
        try FileHandle(forWritingTo: folder.part).truncate(atOffset: 0)
        try part.append(Data("345".utf8))
        #expect(throws: URLError.self) { try part.finish() }
        #expect(try folder.names == [])
    }

    @Test func `a part that was replaced meanwhile is not moved`() throws {
        let part = try complete()
        try FileManager.default.removeItem(at: folder.part)
        try Data("bad".utf8).write(to: folder.part)
        let error = #expect(throws: URLError.self) { try part.finish() }
        #expect(error?.code == .cannotMoveFile)
        #expect(try !folder.names.contains("a.zip"))
        // Then everything of this download is discarded.
        #expect(throws: URLError.self) { try part.append(Data("x".utf8)) }
        #expect(folder.text(folder.part) == "bad")
    }

    @Test func `without hard links, a file is moved unless there is one`() throws {
        let target = try DownloadTarget(folder.file, overwrites: false)
        try Data("new".utf8).write(to: folder.part)
        try Data("old".utf8).write(to: folder.file)
        func move() throws {
            let hardLink = { (_: String, _: String) -> Int32 in
                errno = EPERM
                return -1
            }
            try target.movePart(hardLink: hardLink) {}
        }
        #expect(throws: RequestError.self) { try move() }
        #expect(folder.text(folder.file) == "old")
        try FileManager.default.removeItem(at: folder.file)
        try move()
        #expect(folder.text(folder.file) == "new")
        #expect(try folder.names == ["a.zip"])
    }

    @Test func `a file with two names after a crash is not written to`() throws {
        struct Crash: Error {}
        do {
            let part = try folder.open { if $0 == .linked { throw Crash() } }
            try part.restart(DownloadFolder.version("v1"), total: 3)
            try part.append(Data("old".utf8))
            #expect(throws: Crash.self) { try part.finish() }
        }
        #expect(folder.text(folder.file) == "old")
        let later = try folder.open(overwrites: true)
        #expect(later.count == 0)
        try later.restart(total: 3)
        try later.append(Data("n".utf8))
        #expect(folder.text(folder.file) == "old")
    }
}
