import FlyingFox
import Testing
import URLConfig

@Suite struct ManyCallsTests {
    @Test func `a thousand calls at once each get their own answer`() async throws {
        try await Loopback.serving { request in
            .json(#"{"path":"\#(request.path)"}"#)
        } _: { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 0..<1000 {
                    group.addTask {
                        let request = URLRequest.with(server.config) { $0.path = "/items/\(id)" }
                        let response = try await server.session.response(for: request)
                        let content: [String: String] = try response.decode()
                        #expect(content == ["path": "/items/\(id)"])
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
