import Testing

@testable import URLConfig

/// What a slow reader leaves in temporary files.
@Suite(.inTime) struct OverflowTests {
    private let failure = OneShot<Void>()

    private func overflow(in makeFile: @escaping @Sendable () throws -> File = { try .temporary() }) -> Overflow {
        Overflow(in: makeFile) { [failure] in failure.resolve(.failure($0)) }
    }

    @Test(arguments: [1, 4096, 3_000_000]) func `bytes are read once, in order`(size: Int) async throws {
        let (overflow, all) = (overflow(), Data.sample(4 * size))
        let read = Locked(Data())
        @Sendable func take() { overflow.take { bytes in read.withLock { $0 += bytes } } }
        for start in stride(from: 0, to: all.count, by: size) {
            overflow.append(all[start..<start + size])
            take()
        }
        // The last ones find nothing.
        for _ in 0..<all.count / (1 << 20) + 2 { take() }
        try await waitUntil { read.withLock(\.count) >= all.count }
        // A failed comparison of two large values would be explained for minutes.
        let isSame = read.withLock { $0 == all }
        #expect(isSame)
    }

    #if os(Linux)
    @Test func `a full disk is a clear error`() async throws {
        overflow { try File("/dev/full", O_RDWR | O_APPEND) }.append(Data("12".utf8))
        let error = await #expect(throws: URLError.self) { try await failure.value() }
        #expect(error?.code == .cannotWriteToFile)
        #expect(error?.localizedDescription.contains("No space left on device") == true)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
    }

    @Test func `its file has no name`() async throws {
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.contains("/URLConfig-") }
        }
        let overflow = overflow()
        overflow.append(Data("12".utf8))
        // The file of another test may just have been created.
        try await waitUntil {
            let names = try names()
            return !names.isEmpty && names.allSatisfy { $0.hasSuffix(" (deleted)") }
        }
        withExtendedLifetime(overflow) {}
    }
    #endif
}
