import Foundation
import Testing

@testable import URLConfig

/// What a slow reader leaves in a temporary file.
@Suite struct SpillFileTests {
    @Test(arguments: [1, 7, 4096, 20_000]) func `bytes are read in order, however writes and reads alternate`(
        size: Int
    ) throws {
        var generator = SeededGenerator(seed: 7)
        let all = Data((0..<20 * size).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        var buffer = BodyBuffer(memory: size)
        var (rest, read) = (all, Data())
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...2 * size, using: &generator))
            rest = rest.dropFirst(piece.count)
            try buffer.receive(piece)
            #expect(buffer.data.count <= 2 * size)
            if Int.random(in: 0..<3, using: &generator) == 0, let piece = try buffer.take() { read += piece }
        }
        while let piece = try buffer.take() { read += piece }
        // A failed comparison of two large values would be explained for minutes.
        let isSame = read == all
        #expect(isSame)
        try buffer.receive(Data("more".utf8))
        #expect(try buffer.take() == Data("more".utf8))
    }

    @Test func `the limit holds for all bytes, read or not`() throws {
        var buffer = BodyBuffer(limit: 10, memory: 2)
        try buffer.receive(Data("12345".utf8))
        #expect(try buffer.take() == Data("12345".utf8))
        try buffer.receive(Data("67".utf8))
        let error = #expect(throws: RequestError.self) { try buffer.receive(Data("89abc".utf8)) }
        #expect(error?.code == .responseTooLarge)
        var rest = Data()
        while let piece = try buffer.take() { rest += piece }
        #expect(rest == Data("6789a".utf8))
    }

    @Test func `while the reader lags, the file that was read is released`() throws {
        var buffer = BodyBuffer(memory: 1 << 10)
        let piece = Data(count: 1 << 20)
        for _ in 0..<3 { try buffer.receive(piece) }
        weak var first: SpillFile?
        first = try #require(Mirror(reflecting: buffer).descendant("files", 0) as? SpillFile)
        for _ in 0..<80 {
            try buffer.receive(piece)
            _ = try buffer.take()
        }
        #expect(first == nil)
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
