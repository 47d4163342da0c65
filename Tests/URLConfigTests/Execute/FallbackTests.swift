import Testing
import URLConfigTesting

@testable import URLConfig

/// The last resort of a call.
@Suite(.inTime) struct FallbackTests {
    @Test(.stubs { $0.get("/", .status(.serviceUnavailable)).times(2) })
    func `its response has the attempts that failed, unless it has its own`() async throws {
        let response = try await stubs.get {
            $0.retry = .atOnce(2)
            $0.validators = [.success]
            $0.fallback = { _, request in DataResponse(request: request) }
        }
        #expect(response.attempts.map(\.status?.code) == [503, 503])
        let other = try await stubs.get(.status(.notFound)) {
            $0.validators = [.success]
            $0.fallback = { _, _ in try await stubs.get(.status(.ok)) }
        }
        #expect(other.attempts.map(\.status?.code) == [200])
    }

    @Test(.stubs { $0.get("/").times(0) }, arguments: [.zero, .seconds(-1), .seconds(Int64.min)] as [Duration])
    func `it has a second even if the deadline has passed from the start`(deadline: Duration) async throws {
        let clock = TestClock()
        let response = try await stubs.get {
            ($0.deadline, $0.clock) = (deadline, clock)
            $0.fallback = { error, request in
                #expect((error as? RequestError)?.code == .deadlineExceeded)
                return DataResponse(request: request, data: Data("stored".utf8))
            }
        }
        #expect(try response.text() == "stored")
        #expect(clock.asked == [.seconds(1)])
    }
}
