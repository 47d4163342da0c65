import Foundation

/// A socket on a free port of the loopback interface.
struct Listener {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        #if os(Linux)
        let stream = Int32(SOCK_STREAM.rawValue)
        #else
        let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 512) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Takes connections, for ever.
    func serve() {
        while true {
            let client = accept(descriptor, nil, nil)
            guard client >= 0 else { continue }
            var yes: Int32 = 1
            setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            Thread.detachNewThread { Connection(descriptor: client).serve() }
        }
    }
}
