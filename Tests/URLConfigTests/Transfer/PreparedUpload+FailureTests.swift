import Foundation
import Testing

@testable import URLConfig

/// Forms that cannot be assembled on disk: no temporary file may remain.
@Suite(.timeLimit(.minutes(10))) struct PreparedUploadFailureTests {
    private let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
    private let sources: TemporaryDirectory
    /// The directory for the temporary file.
    private let directory: TemporaryDirectory

    init() throws {
        sources = try TemporaryDirectory()
        directory = try TemporaryDirectory()
    }

    private func prepared(_ form: MultipartForm) async throws -> PreparedUpload {
        try await UploadSource.multipart(form).prepared(for: request, in: directory.url)
    }

    private static func form(_ fill: (inout MultipartForm) throws -> Void) rethrows -> MultipartForm {
        var form = MultipartForm()
        try fill(&form)
        return form
    }

    /// Calls a function when it is encoded.
    private struct Encoding: Encodable, Sendable {
        let work: @Sendable () throws -> Void

        func encode(to encoder: any Encoder) throws {
            try work()
            var container = encoder.singleValueContainer()
            try container.encode(1)
        }
    }

    @Test func `a file that cannot be read is refused; the error names the part and the file`() async throws {
        let form = try Self.form {
            $0.append("fine", file: try sources.file("fine"))
            $0.append("photo", file: sources.url.appending(component: "beach.png"))
        }
        let error = await #expect(throws: RequestError.self) { try await prepared(form) }
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.reason == "body: part 'photo': the file 'beach.png' cannot be read: No such file or directory")
        #expect((error?.underlyingError as? POSIXError)?.code == .ENOENT)
        try await waitUntil { try directory.names.isEmpty }
    }

    @Test(arguments: [1000, 999_999, 1_000_001])
    func `a file whose size changes before it is read to its end is refused`(size: Int64) async throws {
        let file = try sources.sparseFile("log", size: 1_000_000)
        let form = Self.form {
            $0.append("log", file: file)
        }
        let length = try form.data(JSONEncoder()).count
        // The first pieces are the part's header and the beginning of the file.
        let written = Locked(0)
        let error = await #expect(throws: RequestError.self) {
            try await UploadSource.multipart(form).prepared(for: request, in: directory.url) { piece, _ in
                if piece.count > 1000, written.withLock({ $0 }) < 1000 { try? file.setSize(size) }
                written.withLock { $0 += piece.count }
            }
        }
        #expect(error?.reason.hasPrefix("body: part 'log': the file 'log' had 1000000 bytes") == true)
        #expect(written.withLock { $0 } < length)
        try await waitUntil { try directory.names.isEmpty }
    }

    @Test func `a value that cannot be encoded is refused; the error names its part`() async throws {
        struct Broken: Error {}
        let form = Self.form {
            $0.append("place", json: Encoding { throw Broken() })
        }
        let error = await #expect(throws: RequestError.self) { try await prepared(form) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason.hasPrefix("body: part 'place': ") == true)
        #expect(error?.underlyingError is Broken)
        try await waitUntil { try directory.names.isEmpty }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func `a full disk is a URLError with the system's reason`() async throws {
        let form = try Self.form {
            $0.append("film", file: try sources.sparseFile("film.mp4", size: 1_000_000))
        }
        let error = await #expect(throws: URLError.self) {
            try await UploadSource.multipart(form).prepared(for: request, in: directory.url) {
                piece, _ throws(POSIXError) in
                var count: Int64 = 0
                try OpenFile("/dev/full", O_WRONLY).append(piece, count: &count)
            }
        }
        #expect(error?.code == .cannotWriteToFile)
        #expect(error?.localizedDescription == "A temporary file cannot be written: No space left on device")
        #expect((error?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOSPC)
        try await waitUntil { try directory.names.isEmpty }
    }

    @Test func `a directory that does not exist is a URLError with the system's reason`() async throws {
        let missing = directory.url.appending(component: "missing")
        let error = await #expect(throws: URLError.self) {
            try await UploadSource.multipart(MultipartForm()).prepared(for: request, in: missing)
        }
        #expect(error?.code == .cannotCreateFile)
        #expect((error?.errorUserInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ENOENT)
    }

    @Test func `a cancelled task creates no file`() async throws {
        let isReady = Gate()
        let task = Task {
            await isReady.pass()
            return try await prepared(MultipartForm())
        }
        task.cancel()
        isReady.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try directory.names.isEmpty)
    }

    @Test func `cancelling returns at once, stops the work, and removes the file`() async throws {
        let (begun, ended) = (Gate(), DispatchSemaphore(value: 0))
        let encodings = Locked(0)
        var form = MultipartForm()
        form.append(
            "first",
            json: Encoding {
                Task { await begun.pass() }
                ended.wait()
            })
        form.append("second", json: Encoding { encodings.withLock { $0 += 1 } })
        let task = Task { try await prepared(form) }
        await begun.waitForArrivals()
        task.cancel()
        // The work is still blocked.
        await #expect(throws: CancellationError.self) { try await task.value }
        ended.signal()
        try await waitUntil { try directory.names.isEmpty }
        #expect(encodings.withLock { $0 } == 0)
        begun.open()
    }

    @Test func `an upload that is ready when its task is cancelled leaves no file`() async throws {
        for round in 0..<200 {
            let started = Gate()
            let task = Task {
                Task { await started.pass() }
                try await prepared(MultipartForm()).remove()
            }
            await started.waitForArrivals()
            for _ in 0..<round % 20 { await Task.yield() }
            task.cancel()
            _ = try? await task.value
            started.open()
        }
        try await waitUntil { try directory.names.isEmpty }
    }

    #if os(Linux)
    /// In a separate process, so that its peak memory is that of this upload.
    // The thread sanitizer needs several more bytes for each byte.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil))
    func `a large file needs no memory`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let request = URLRequest.with(.init(host: "https://h.example")) { $0.method = .put }
            func prepared(_ form: MultipartForm) async throws -> PreparedUpload {
                try await UploadSource.multipart(form).prepared(for: request, in: directory.url)
            }
            // What a process needs once.
            try await prepared(MultipartForm()).remove()
            var form = MultipartForm()
            form.append("film", file: try directory.sparseFile("film.mp4", size: 256 << 20))
            let before = try Memory.peak()
            let upload = try await prepared(form)
            #expect(upload.length > 256 << 20)
            #expect(try Memory.peak() - before < 16 << 20)
        }
    }
    #endif
}
