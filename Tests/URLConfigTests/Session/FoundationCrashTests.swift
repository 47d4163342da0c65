#if os(Linux)
import Testing
import URLConfig

/// Responses that crash Foundation itself.
///
/// If one of these tests fails, Foundation has been fixed. Then change the test and the documentation.
@Suite(.urlSessionOnly, .timeLimit(.minutes(10))) struct FoundationCrashTests {
    @Test func `fields after the last chunk`() async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) {
            try await FaultServer.serving(.trailers) { try await $0.data() }
        }
        #expect(child?.exitStatus.isSignal == true)
    }

    @Test func `a connection closed within the head`() async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) {
            try await FaultServer.serving(.truncatedHead) { try await $0.data() }
        }
        #expect(child?.exitStatus.isSignal == true)
    }

    /// 2⁶³ - 1, 2⁶³ - 2 and 2⁶³ - 512.
    @Test(arguments: ["9223372036854775807", "9223372036854775806", "9223372036854775296"])
    func `a length that a double rounds up to more than there are integers`(length: String) async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) { [length] in
            try await FaultServer.serving(.length(length)) { try await $0.data() }
        }
        #expect(child?.exitStatus.isSignal == true)
    }

    @Test func `the next smaller length does not`() async {
        await #expect(processExitsWith: .success) {
            try await FaultServer.serving(.length("9223372036854775295")) { server in
                await #expect(throws: URLError.self) { try await server.data() }
            }
        }
    }

    @Test func `a redirect to an address in brackets without a scheme`() async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) {
            try await FaultServer.serving(.redirect(to: "//[::1]:1/")) { try await $0.data() }
        }
        #expect(child?.exitStatus.isSignal == true)
    }

    @Test(arguments: ["//%00/", "//a%2Fb/"])
    func `a redirect without a scheme to a host that holds an escaped NUL or slash`(location: String) async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) { [location] in
            try await FaultServer.serving(.redirect(to: location)) { try await $0.data() }
        }
        #expect(child?.exitStatus.isSignal == true)
    }

    /// This does not crash the library, which reads cookies itself.
    @Test func `a cookie whose name holds an emoji, without us`() async {
        let child = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) {
            try await FaultServer.serving(.cookie("🙂=")) { try await $0.data() }
        }
        #expect(child?.exitStatus.isSignal == true)
        await #expect(processExitsWith: .success) {
            try await FaultServer.serving(.cookie("🙂=")) { server in
                let response = try await server.get()
                #expect(response.cookies.first?.name == "🙂")
            }
        }
    }

    @Test func `an answer as it should be does not`() async {
        await #expect(processExitsWith: .success) {
            try await FaultServer.serving(.ok("{}")) { try await $0.data() }
        }
    }
}

extension FaultServer {
    /// The result of Foundation for the response, without the library.
    fileprivate func data() async throws {
        _ = try await session.data(for: URLRequest(url: try #require(URL(string: host))))
    }
}

extension ExitStatus {
    fileprivate var isSignal: Bool {
        guard case .signal = self else { return false }
        return true
    }
}
#endif
