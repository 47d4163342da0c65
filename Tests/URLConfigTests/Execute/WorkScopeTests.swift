import Testing

@testable import URLConfig

/// The scopes that tasks inherit.
@Suite(.inTime) struct WorkScopeTests {
    private final class Worker: Sendable {}

    @Test func `a task inherits no scope that is over, generation after generation`() async throws {
        let counts = Recorder<Int>()
        @Sendable func begin(_ rest: Int) async throws -> Task<Void, any Error> {
            let worker = Worker()
            let gate = Gate()
            let next = try await WorkScope.of(worker) {
                counts.note(WorkScope.all.count)
                #expect(WorkScope.contains(worker))
                return Task {
                    await gate.pass()
                    #expect(!WorkScope.contains(worker))
                    if rest > 0 { try await begin(rest - 1).value }
                }
            }
            gate.open()
            return next
        }
        try await begin(20).valueInTime
        #expect(counts.entries == Array(repeating: 1, count: 21))
    }

    @Test func `a scope within another one keeps it`() async throws {
        let (outer, inner) = (Worker(), Worker())
        try await WorkScope.of(outer) {
            try await WorkScope.of(inner) { #expect(WorkScope.contains(outer) && WorkScope.contains(inner)) }
            #expect(WorkScope.contains(outer) && !WorkScope.contains(inner))
        }
        #expect(!WorkScope.contains(outer))
    }
}
