#if compiler(>=6.3) && AsyncHTTPClient && os(Linux)

import Testing

@testable import URLConfig

/// Without free descriptors.
@Suite(.inTime) struct AsyncHTTPClientDescriptorTests {
    @Test(arguments: ["127.0.0.1", "localhost"])
    func `without descriptors, the error does not say that the host is missing`(host: String) async {
        await #expect(processExitsWith: .success) { [host] in
            ChildProcess.endIfStuck()
            try await FaultServer.serving(.ok("{}")) { server in
                // Everything is loaded, and the event loops run.
                try await server.get(config: .server)
                let request = URLRequest.with(.init(host: "http://\(host):9")) { _ in }
                let error = try await ChildProcess.withoutDescriptors {
                    await #expect(throws: URLError.self) {
                        try await server.session.response(for: request, config: .server) { $0.retry = .none }
                    }
                }
                #expect(error?.code == .cannotConnectToHost, "\(String(describing: error))")
                #expect(error?.localizedDescription.contains("Too many open files") == true)
            }
        }
    }
}

#endif
