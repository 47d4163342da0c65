import Foundation

/// Helpers for the C interface, whose names differ on Apple platforms.
extension TCPSocket {
    #if canImport(Darwin)
    static let stream = SOCK_STREAM
    static let noSignal: Int32 = 0
    #else
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}

/// An address on 127.0.0.1.
extension sockaddr_in {
    init(port: UInt16) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = port.bigEndian
        sin_addr.s_addr = inet_addr("127.0.0.1")
    }

    mutating func pass<Result>(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeMutablePointer(to: &self) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Self>.size)) }
        }
    }
}
