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
                        let response = try await server.get("/items/\(id)")
                        let content: [String: String] = try response.decode()
                        #expect(content == ["path": "/items/\(id)"])
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
