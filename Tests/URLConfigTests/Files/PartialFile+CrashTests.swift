import Foundation
import Testing

@testable import URLConfig

/// A process that ends between two steps, and what the next one makes of the files.
@Suite struct PartialFileCrashTests {
    private struct Crash: Error {}

    private static let versions = ["v1": "0123456789", "v2": "abcdefghij"]

    /// Downloads a version until a step, or as many bytes, as a process does that is killed then.
    private static func run(
        _ folder: DownloadFolder, _ tag: String, until last: PartialFile.Step?, bytes: Int = 10
    ) throws {
        let part = try folder.open(overwrites: true) { if $0 == last { throw Crash() } }
        let content = Data((versions[tag] ?? "").utf8)
        do {
            let resumption = part.resumption
            // This is what a server does for If-Range.
            var request = URLRequest(url: folder.file)
            resumption.prepare(&request)
            if resumption.start > 0, request.value(forHTTPHeaderField: "If-Range") == "\"\(tag)\"" {
                try part.resume(at: resumption.start, total: 10)
                try part.append(content[Int(resumption.start)..<max(bytes, Int(resumption.start))])
            } else {
                try part.restart(DownloadFolder.version(tag), total: 10)
                try part.append(content.prefix(bytes))
            }
            if bytes == 10 { try part.finish() }
        } catch is Crash {}
    }

    /// Whether the part begins with the version that the record names, so that it may be continued.
    private static func isConsistent(_ folder: DownloadFolder) throws -> Bool {
        let resumption = try folder.open(overwrites: true).resumption
        guard resumption.start > 0 else { return true }
        var request = URLRequest(url: folder.file)
        resumption.prepare(&request)
        let tag = request.value(forHTTPHeaderField: "If-Range")?.trimmingPrefix("\"").dropLast()
        let content = try #require(folder.text(folder.part))
        return versions[String(tag ?? "")]?.hasPrefix(content) == true
    }

    @Test(arguments: PartialFile.Step.allCases, [0, 4, 10])
    func `no crash leads to a file of two versions`(step: PartialFile.Step, bytes: Int) throws {
        for next in ["v1", "v2"] {
            let folder = try DownloadFolder()
            try Self.run(folder, "v1", until: nil, bytes: 4)
            try Self.run(folder, "v2", until: step, bytes: bytes)
            #expect(try Self.isConsistent(folder))
            let before = folder.text(folder.file)
            #expect(before == nil || before == Self.versions["v2"])
            try Self.run(folder, next, until: nil)
            #expect(folder.text(folder.file) == Self.versions[next])
            #expect(try folder.names == ["a.zip"])
        }
    }

    @Test func `every step is done in its order`() throws {
        let folder = try DownloadFolder()
        let steps = Locked<[PartialFile.Step]>([])
        let part = try folder.open { step in steps.withLock { $0.append(step) } }
        try part.restart(DownloadFolder.version("v1"), total: 0)
        try part.finish()
        #expect(steps.withLock(\.self) == PartialFile.Step.allCases)
    }

    @Test func `the old version is gone before the new one is described`() throws {
        let folder = try DownloadFolder()
        try folder.leavePart()
        let part = try folder.open { step in
            switch step {
            case .versionRemoved: #expect(folder.text(folder.record)?.contains("v1") == false)
            case .truncated:
                #expect(folder.text(folder.part) == "" && folder.text(folder.record)?.contains("v1") == false)
            case .recordWritten:
                #expect(folder.text(folder.part) == "" && folder.text(folder.record)?.contains("v2") == true)
            default: break
            }
        }
        try part.restart(DownloadFolder.version("v2"), total: 10)
    }

    @Test func `a new record that was not completed is replaced`() throws {
        let folder = try DownloadFolder()
        try Data("URLConfig d".utf8).write(to: folder.url.appending(component: ".a.zip.urlconfig-new"))
        try Self.run(folder, "v1", until: nil)
        #expect(try folder.names == ["a.zip"])
    }

    @Test func `random crashes never lead to a file of two versions`() throws {
        var random = SeededGenerator(seed: 13)
        let folder = try DownloadFolder()
        for _ in 0..<300 {
            let tag = Bool.random(using: &random) ? "v1" : "v2"
            let step = PartialFile.Step.allCases.randomElement(using: &random)
            let bytes = Int.random(in: 0...10, using: &random)
            try Self.run(folder, tag, until: Int.random(in: 0..<3, using: &random) == 0 ? nil : step, bytes: bytes)
            #expect(try Self.isConsistent(folder))
            let file = folder.text(folder.file)
            #expect(file == nil || Self.versions.values.contains(file ?? ""))
        }
    }
}
