import Foundation
import Testing

@testable import URLConfig

/// What a slow reader leaves in a temporary file.
@Suite(.inTime) struct SpillFileTests {
    @Test(arguments: [1, 4096, 3_000_000]) func `bytes are read once, in order`(size: Int) throws {
        let (file, all) = (try SpillFile(), Data.sample(4 * size))
        var read = Data()
        for start in stride(from: 0, to: all.count, by: size) {
            try file.append(all[start..<start + size])
            if let bytes = try file.take() { read += bytes }
        }
        while let bytes = try file.take() { read += bytes }
        // A failed comparison of two large values would be explained for minutes.
        let isSame = read == all
        #expect(isSame)
        #expect(file.isEmpty)
    }

    #if os(Linux)
    @Test func `a full disk is a clear error`() throws {
        let file = SpillFile(try File("/dev/full", O_RDWR | O_APPEND))
        let error = #expect(throws: URLError.self) { try file.append(Data("12".utf8)) }
        #expect(error?.code == .cannotWriteToFile)
        #expect(error?.localizedDescription.contains("No space left on device") == true)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
    }

    @Test func `it has no name, and ends with its owner`() async throws {
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.contains("/URLConfig-") }
        }
        do {
            let file = try SpillFile()
            try file.append(Data("12".utf8))
            // The file of another test may just have been created.
            try await waitUntil { try names().allSatisfy { $0.hasSuffix(" (deleted)") } }
            #expect(try !names().isEmpty)
            withExtendedLifetime(file) {}
        }
    }
    #endif
}
