import FlyingFox
import Testing
import URLConfig

/// Closures of the caller that block a thread, which a task must not do.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlineBlockingTests {
    @Test func `calls whose validators block threads end on time`() async throws {
        let end = DispatchSemaphore(value: 0)
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            // More calls than there are threads for tasks.
            let count = 4 * ProcessInfo.processInfo.activeProcessorCount
            await withTaskGroup { group in
                for _ in 0..<count {
                    group.addTask {
                        await #expect(throws: RequestError.self) {
                            try await server.get {
                                $0.deadline = .milliseconds(200)
                                $0.validators = [ResponseValidator { _ in #expect(end.wasSignalled) }]
                            }
                        }
                    }
                }
                for await error in group { #expect(error?.code == .deadlineExceeded) }
            }
            for _ in 0..<count { end.signal() }
        }
    }

    @Test func `a cancellation handler that blocks holds up no other deadline`() async throws {
        let (end, gate) = (DispatchSemaphore(value: 0), Gate())
        defer { gate.open() }
        try await Loopback.serving { _ in
            .status(.ok)
        } _: { server in
            for isBlocking in [true, false] {
                let error = await #expect(throws: RequestError.self) {
                    try await server.get {
                        $0.deadline = .milliseconds(100)
                        $0.validators = [
                            ResponseValidator { _ in
                                await withTaskCancellationHandler {
                                    await gate.pass()
                                } onCancel: {
                                    if isBlocking { #expect(end.wasSignalled) }
                                }
                            }
                        ]
                    }
                }
                #expect(error?.code == .deadlineExceeded)
            }
            end.signal()
        }
    }
}

extension DispatchSemaphore {
    /// Blocks the thread until a signal, with a time limit.
    fileprivate var wasSignalled: Bool { wait(timeout: .now() + 20) == .success }
}
