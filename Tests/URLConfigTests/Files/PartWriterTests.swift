import Foundation
import Testing

@testable import URLConfig

/// Writing while the next bytes arrive, and what happens when the disk refuses them.
@Suite struct PartWriterTests {
    private let folder: DownloadFolder

    init() throws { folder = try DownloadFolder() }

    private func writer(_ part: PartialFile) -> PartWriter { PartWriter(part, DispatchQueue(label: "test")) }

    @Test func `pieces are written in order`() async throws {
        let writer = try writer(folder.open())
        try await writer.run { try $0.restart(DownloadFolder.version("v1")) }
        let content = FileServer.Version(1, size: 5_000_000).content
        for start in stride(from: 0, to: content.count, by: 7001) {
            try await writer.append(content[start..<min(start + 7001, content.count)])
        }
        #expect(try await writer.run { $0.count } == 5_000_000)
        _ = try await writer.run { try $0.finish() }
        #expect(folder.has(content))
    }

    @Test func `what has arrived is written before the part is closed`() async throws {
        let writer = try writer(folder.open())
        try await writer.run { try $0.restart(DownloadFolder.version("v1")) }
        try await writer.append(Data("01234".utf8))
        await writer.close()
        await #expect(throws: CancellationError.self) { try await writer.append(Data("56789".utf8)) }
        await #expect(throws: CancellationError.self) { try await writer.run { $0.count } }
        #expect(try folder.open().count == 5)
        #expect(folder.text(folder.part) == "01234")
    }

    @Test func `a part that no run can continue is removed`() async throws {
        for isRestarted in [false, true] {
            let writer = try writer(folder.open())
            if isRestarted {
                try await writer.run { try $0.restart() }
                try await writer.append(Data("01234".utf8))
            }
            await writer.close()
            #expect(try folder.names == [])
        }
    }

    @Test func `a file of another program is kept`() async throws {
        try Data("other".utf8).write(to: folder.part)
        await writer(try folder.open()).close()
        #expect(try folder.names == [".a.zip.urlconfig-part"])
        #expect(folder.text(folder.part) == "other")
    }

    #if os(Linux)
    @Test func `nothing is written after the disk was full`() async throws {
        let target = try DownloadTarget(folder.file, overwrites: false)
        let part = try PartialFile(
            for: target, of: DownloadFolder.request(), in: File("/dev/full", O_WRONLY | O_APPEND))
        let writer = writer(part)
        try await writer.run { try $0.restart(DownloadFolder.version("v1"), total: 10) }
        try await writer.append(Data("0123".utf8))
        for _ in 0..<2 {
            let error = await #expect(throws: URLError.self) { try await writer.run { _ in } }
            #expect(error?.code == .cannotWriteToFile)
            #expect((error?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
            await #expect(throws: URLError.self) { try await writer.append(Data("4567".utf8)) }
        }
        await writer.close()
    }
    #endif
}
