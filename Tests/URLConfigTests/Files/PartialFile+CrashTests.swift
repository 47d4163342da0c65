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
        do {
            var part = try folder.open(overwrites: true) { if $0 == last { throw Crash() } }
            let content = Data((versions[tag] ?? "").utf8)
            let resumption = part.resumption
            // This is what a server does for If-Range.
            var request = URLRequest(url: folder.file)
            resumption.prepare(&request)
            if resumption.start > 0, request.value(forHTTPHeaderField: "If-Range") == "\"\(tag)\"" {
                let version = DownloadFolder.version(tag)
                try part.begin(at: resumption.start, version, total: 10, for: .anonymous)
                try part.append(content[Int(resumption.start)..<max(bytes, Int(resumption.start))])
            } else {
                try part.restart(DownloadFolder.version(tag), total: 10)
                try part.append(content.prefix(bytes))
            }
            if bytes == 10 { try part.finish() }
        } catch is Crash {}
    }

    /// Checks that the part begins with the version that the record names, and that there is no other file.
    private static func check(_ folder: DownloadFolder, _ place: String) throws {
        let file = folder.text(folder.file)
        #expect(file == nil || versions.values.contains(file ?? ""), "\(place)")
        let resumption = try folder.open(overwrites: true).resumption
        let files = ["a.zip", ".a.zip.urlconfig-part", ".a.zip.urlconfig-state"]
        #expect(try folder.names.allSatisfy(files.contains), "\(place)")
        guard resumption.start > 0 else { return }
        var request = URLRequest(url: folder.file)
        resumption.prepare(&request)
        let tag = request.value(forHTTPHeaderField: "If-Range")?.trimmingPrefix("\"").dropLast()
        let content = try #require(folder.text(folder.part))
        #expect(versions[String(tag ?? "")]?.hasPrefix(content) == true, "\(place)")
    }

    @Test func `no crash leads to a file of two versions, and none loses anything but time`() throws {
        let seen = Locked<[PartialFile.Step]>([])
        let folder = DownloadFolder()
        var first = try folder.open { step in seen.withLock { $0.append(step) } }
        try first.restart(DownloadFolder.version("v1"), total: 0)
        try first.finish()
        #expect(seen.withLock(\.self) == PartialFile.Step.allCases)
        for step in PartialFile.Step.allCases {
            for (bytes, next) in [0, 4, 10].flatMap({ [($0, "v1"), ($0, "v2")] }) {
                let folder = DownloadFolder()
                try Self.run(folder, "v1", until: nil, bytes: 4)
                try Self.run(folder, "v2", until: step, bytes: bytes)
                try Self.check(folder, "\(step), \(bytes) bytes")
                try Self.run(folder, next, until: nil)
                #expect(folder.text(folder.file) == Self.versions[next])
                #expect(try folder.names == ["a.zip"])
            }
        }
    }

    @Test func `random crashes never lead to a file of two versions`() throws {
        var random = SeededGenerator(seed: 13)
        let folder = DownloadFolder()
        for round in 0..<300 {
            let tag = Bool.random(using: &random) ? "v1" : "v2"
            let step = PartialFile.Step.allCases.randomElement(using: &random)
            let bytes = Int.random(in: 0...10, using: &random)
            try Self.run(folder, tag, until: Int.random(in: 0..<3, using: &random) == 0 ? nil : step, bytes: bytes)
            try Self.check(folder, "round \(round)")
        }
    }
}
