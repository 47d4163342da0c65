#if os(Linux)
import Testing

@testable import URLConfig

/// If the queue that all of Foundation's tasks share is blocked, every transfer stops, but no caller and no Swift task.
///
/// The tests run in separate processes, because other tests need that queue.
@Suite(.serialized, .inTime) struct HeldUpTests {
    /// Blocks Foundation's queue until the gate is opened.
    private final class Barrier: URLProtocol {
        static let isReached = Gate()
        static let end = DispatchSemaphore(value: 0)

        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            Self.isReached.open()
            Self.end.wait()
            client?.urlProtocol(self, didFailWithError: URLError(.badServerResponse))
        }

        override func stopLoading() {}
    }

    /// Blocks Foundation's queue while a closure runs.
    private static func holdingUp(_ body: () async throws -> Void) async throws {
        try await URLSession.with {
            $0.protocolClasses = [Barrier.self]
        } _: { session in
            let task = session.dataTask(with: try #require(URL(string: "http://h.invalid")))
            Thread.detachNewThread { task.resume() }
            await Barrier.isReached.pass()
            try await body()
            Barrier.end.signal()
        }
    }

    /// Makes many concurrent calls, each on its own session, while Foundation's queue is blocked.
    private static func calls(
        _ count: Int, to host: String,
        _ change: @escaping @Sendable (inout URLRequest.Config, inout URLSession.Config) -> Void
    ) async -> [any Error] {
        let errors = Recorder<any Error>()
        try? await concurrently(count) { _ in
            var (request, config) = (URLRequest.Config(host: host), URLSession.Config.silent)
            change(&request, &config)
            do {
                try await URLSession(configuration: .ofTests).response(for: .with(request), config: config)
            } catch {
                errors.note(error)
            }
        }
        return errors.entries
    }

    private struct Blocking: Encodable, Sendable {
        let end: DispatchSemaphore

        func encode(to encoder: any Encoder) throws { end.wait() }
    }

    @Test func `a deadline passes although the forms of 300 uploads are not encoded`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let end = DispatchSemaphore(value: 0)
            try await FaultServer.serving(.hangBeforeHead) { server in
                let uploads = (0..<300).map { _ in
                    Task {
                        var form = MultipartForm()
                        form.append("a", json: Blocking(end: end))
                        let request = server.request { $0.method = .put }
                        _ = try await server.session.upload(.multipart(form), for: request, config: .silent)
                    }
                }
                try await Task.sleep(for: .milliseconds(500))
                let errors = await Self.calls(10, to: server.host) { $1.deadline = .milliseconds(50) }
                #expect(errors.count == 10)
                for upload in uploads { upload.cancel() }
                for _ in uploads { end.signal() }
            }
        }
    }

    @Test func `deadlines, time limits and cancellations hold, and tasks run`() async {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.hangBeforeHead) { server in
                try await Self.holdingUp {
                    let host = server.host
                    let deadlines = await Self.calls(200, to: host) { $1.deadline = .milliseconds(50) }
                    #expect(deadlines.count == 200)
                    #expect(deadlines.allSatisfy { ($0 as? RequestError)?.code == .deadlineExceeded })
                    let limits = await Self.calls(200, to: host) { request, _ in request.timeout = .milliseconds(50) }
                    #expect(limits.count == 200)
                    #expect(limits.allSatisfy { ($0 as? URLError)?.code == .timedOut })
                    let cancelled = Task { await Self.calls(200, to: host) { _, _ in } }
                    await Task.yield()
                    cancelled.cancel()
                    #expect(await cancelled.value.allSatisfy { $0 is CancellationError })
                }
            }
            // The cancelled calls do not delay later ones.
            try await FaultServer.serving(.ok("{}")) { server in
                try await server.get().validated()
            }
        }
    }

    @Test func `calls that were given up leave no jam, and give their memory back`() async throws {
        await #expect(processExitsWith: .success) {
            ChildProcess.endIfStuck()
            let calls = 1_500
            // The thread sanitizer needs several more bytes for each byte.
            let room = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] == nil ? 48 << 20 : 512 << 20
            let fault = FaultServer.Fault { connection in
                while true {
                    try connection.read()
                    try connection.pause(.seconds(1))
                    try connection.send(FaultServer.Fault.answer("{}"))
                }
            }
            try await FaultServer.serving(fault) { server in
                func storm() async {
                    await withTaskGroup(of: Void.self) { group in
                        for index in 0..<calls {
                            if index >= 1_000 { await group.next() }
                            group.addTask { _ = try? await server.get { $0.deadline = .milliseconds(20) } }
                        }
                    }
                }
                await storm()
                // The first calls allocate the memory that all later ones reuse.
                var growth = Int.max
                for _ in 0..<3 where growth >= room {
                    let memory = try Memory.resident()
                    await storm()
                    growth = try Memory.resident() - memory
                }
                let start = ContinuousClock.now
                let response = try await server.get()
                #expect(response.isSuccess)
                // In a jam, thousands of calls would be before it, each of them a second long.
                #expect(start.duration(to: .now) < .seconds(60))
                #expect(growth < room)
            }
        }
    }
}
#endif
