import Testing

@testable import URLConfig

@Suite(.inTime) struct OneShotTests {
    private struct Broken: Error {}

    @Test func `the first result is used, whether it comes before or after the task that waits`() async throws {
        let promise = OneShot<Int>()
        promise.resolve(.success(1))
        promise.resolve(.success(2))
        #expect(try await promise.value() == 1)
        let later = OneShot<Int>()
        let task = Task { try await later.value() }
        later.resolve(.failure(Broken()))
        later.resolve(.success(2))
        await #expect(throws: Broken.self) { try await task.valueInTime }
    }

    @Test func `a task that is cancelled waits no longer, and a closure is called`() async throws {
        let promise = OneShot<Int>()
        let told = Locked(0)
        let task = Task { try await promise.value { told.withLock { $0 += 1 } } }
        await task.expectCancelled()
        #expect(told.withLock { $0 } == 1)
    }

    @Test func `a result and a cancellation at the same time end in one of them`() async throws {
        for _ in 0..<2_000 {
            let promise = OneShot<Int>()
            let task = Task { try await promise.value() }
            async let kept: Void = promise.resolve(.success(1))
            async let cancelled: Void = task.cancel()
            _ = await (kept, cancelled)
            switch await task.result {
            case .success(let value): #expect(value == 1)
            case .failure(let error): #expect(error is CancellationError)
            }
        }
    }
}
