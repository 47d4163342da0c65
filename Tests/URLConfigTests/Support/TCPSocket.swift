@testable import URLConfig

/// A blocking TCP socket on 127.0.0.1 or, if wanted, on ::1, at either end.
///
/// One thread at a time uses it. Any other thread may shut it down, which ends all waiting.
final class TCPSocket: Sendable {
    struct Failure: Error, Equatable {
        var code = errno
    }

    /// -1 after it was closed.
    private let descriptor: Locked<Int32>

    private let isIPv6: Bool

    private var number: Int32 { descriptor.withLock { $0 } }

    private init(_ number: Int32, isIPv6: Bool) throws {
        let checked = try Self.checked(number)
        descriptor = Locked(checked)
        self.isIPv6 = isIPv6
        // A child process must not keep a connection open that is closed here.
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        try set(SO_NOSIGPIPE, Int32(1))
        #endif
    }

    convenience init(isIPv6: Bool = false) throws {
        try self.init(socket(isIPv6 ? AF_INET6 : AF_INET, Self.stream, 0), isIPv6: isIPv6)
    }

    deinit {
        end()
    }

    /// Listens on a free port and returns the port.
    func open() throws -> UInt16 {
        let port = try takePort()
        try Self.checked(listen(number, SOMAXCONN))
        return port
    }

    /// Takes a free port, where connections are refused, and returns the port.
    func takePort() throws -> UInt16 {
        if isIPv6 { return try port(at: sockaddr_in6(port: 0)) }
        return try port(at: sockaddr_in(port: 0))
    }

    private func port(at place: some LoopbackAddress) throws -> UInt16 {
        var address = place
        try Self.checked(address.pass { bind(number, $0, $1) })
        var length = socklen_t(MemoryLayout.size(ofValue: place))
        try Self.checked(address.pass { address, _ in getsockname(number, address, &length) })
        return address.port
    }

    func accepted() throws -> TCPSocket {
        try TCPSocket(Self.persisting { accept(number, nil, nil) }, isIPv6: isIPv6)
    }

    func reach(_ port: UInt16) throws {
        if isIPv6 { return try reach(sockaddr_in6(port: port)) }
        try reach(sockaddr_in(port: port))
    }

    private func reach(_ place: some LoopbackAddress) throws {
        var address = place
        try Self.checked(address.pass { connect(number, $0, $1) })
    }

    /// Waits for data and returns it; empty after the peer has closed.
    func read(upTo count: Int = 1 << 16) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = try Self.checked(Self.persisting { recv(number, buffer.baseAddress, count, 0) })
        }
    }

    /// Whether data arrives or the peer closes within the time.
    func isReadable(within milliseconds: Int32) throws -> Bool {
        var state = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return try Self.checked(Self.persisting { poll(&state, 1, milliseconds) }) > 0
    }

    func write(_ bytes: some Sequence<UInt8>) throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { buffer in
                Self.persisting { send(number, buffer.baseAddress, buffer.count, Self.noSignal) }
            }
            rest = rest.dropFirst(try Self.checked(sent))
        }
    }

    /// Shuts it down for both sides; its owner must still close it.
    func shutDown() {
        descriptor.withLock { _ = shutdown($0, Int32(SHUT_RDWR)) }
    }

    /// Closes it: the peer reads the sent data, then the end.
    func end() {
        descriptor.withLock { number in
            guard number >= 0 else { return }
            shutdown(number, Int32(SHUT_WR))
            close(number)
            number = -1
        }
    }

    /// Closes it: the peer's next call fails.
    func reset() throws {
        try set(SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        descriptor.withLock { number in
            close(number)
            number = -1
        }
    }

    private func set<Value>(_ option: Int32, _ value: Value) throws {
        let size = socklen_t(MemoryLayout<Value>.size)
        try Self.checked(withUnsafePointer(to: value) { setsockopt(number, SOL_SOCKET, option, $0, size) })
    }

    @discardableResult
    private static func checked<Number: SignedInteger>(_ result: Number) throws -> Number {
        guard result >= 0 else { throw Failure() }
        return result
    }

    private static func persisting<Number: SignedInteger>(_ call: () -> Number) -> Number {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }
}

/// Helpers for the C interface, whose names differ on Apple platforms.
extension TCPSocket {
    #if canImport(Darwin)
    static let stream = SOCK_STREAM
    static let noSignal: Int32 = 0
    #else
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let noSignal = Int32(MSG_NOSIGNAL)
    #endif

    /// Whether this machine has ::1; a container may be without it.
    static let hasIPv6 = (try? TCPSocket(isIPv6: true).takePort()) != nil
}

/// A port of this machine.
protocol LoopbackAddress {
    init(port: UInt16)
    var port: UInt16 { get }
}

extension sockaddr_in: LoopbackAddress {
    /// An address on 127.0.0.1.
    init(port: UInt16) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = port.bigEndian
        sin_addr.s_addr = inet_addr("127.0.0.1")
    }

    var port: UInt16 { UInt16(bigEndian: sin_port) }
}

extension sockaddr_in6: LoopbackAddress {
    /// An address on ::1.
    init(port: UInt16) {
        self.init()
        sin6_family = sa_family_t(AF_INET6)
        sin6_port = port.bigEndian
        inet_pton(AF_INET6, "::1", &sin6_addr)
    }

    var port: UInt16 { UInt16(bigEndian: sin6_port) }
}

extension LoopbackAddress {
    mutating func pass<Result>(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafeMutablePointer(to: &self) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Self>.size)) }
        }
    }
}
