import Testing

@testable import URLConfig

@Suite struct LockedTests {
    @Test func `changes from many threads are all counted`() {
        let box = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<1000 { box.withLock { $0 += 1 } }
        }
        #expect(box.withLock { $0 } == 8000)
    }

    private struct Failure: Error {}

    @Test func `the error of the closure is rethrown, and the lock is free again`() {
        let box = Locked(1)
        #expect(throws: Failure.self) { try box.withLock { (_: inout Int) throws(Failure) in throw Failure() } }
        #expect(box.withLock { $0 } == 1)
    }
}
