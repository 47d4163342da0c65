import Foundation

/// A host on the loopback interface whose connections are never established, and never refused.
enum BlackHole {
    /// Runs `body` with the host.
    static func open(
        isolation: isolated (any Actor)? = #isolation, _ body: (_ host: String) async throws -> Void
    ) async throws {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        func newSocket() throws -> Int32 {
            let descriptor = socket(AF_INET, TCPSocket.stream, 0)
            guard descriptor >= 0 else { throw TCPSocket.Failure() }
            descriptors.append(descriptor)
            return descriptor
        }
        let listener = try newSocket()
        var address = sockaddr_in(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard address.pass({ bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0,
            address.pass({ address, _ in getsockname(listener, address, &length) }) == 0
        else { throw TCPSocket.Failure() }
        // The system establishes the first connections itself, so they are used up.
        for _ in 0..<8 {
            let client = try newSocket()
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            _ = address.pass { connect(client, $0, $1) }
        }
        try await body("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    }
}
