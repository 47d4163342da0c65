import URLConfig

/// Proxies, which connect to one port whatever host a client names.
extension FaultServer.Fault {
    /// An HTTP proxy for `CONNECT`.
    static func httpProxy(to port: UInt16) -> Self {
        Self { connection in
            let request = try connection.read()
            guard request.head.hasPrefix("CONNECT ") else {
                return try connection.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            }
            try connection.send("HTTP/1.1 200 Connection Established\r\n\r\n")
            try connection.relay(to: port)
        }
    }

    /// A SOCKS proxy without authentication (RFC 1928), which records the host and the port as a request.
    static func socksProxy(to port: UInt16, reply: UInt8 = 0) -> Self {
        Self { connection in
            let greeting = try connection.bytes(2)
            _ = try connection.bytes(Int(greeting[1]))
            try connection.send([5, 0])
            let request = try connection.bytes(4)
            let length = request[3] == 1 ? 4 : request[3] == 4 ? 16 : Int(try connection.bytes(1)[0])
            let address = try connection.bytes(length)
            let target = try connection.bytes(2)
            let host =
                request[3] == 3
                ? String(decoding: address, as: UTF8.self) : address.map(String.init).joined(separator: ".")
            connection.record(.init(head: "\(host):\(Int(target[0]) << 8 + Int(target[1]))"))
            try connection.send([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
            if reply == 0 { try connection.relay(to: port) }
        }
    }
}

extension FaultServer.Connection {
    /// Passes all bytes on to a port, and back, until one side closes.
    func relay(to port: UInt16) throws {
        let upstream = try TCPSocket()
        try upstream.reach(port)
        let isBack = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [socket] in
            while let bytes = try? upstream.read(), !bytes.isEmpty, (try? socket.write(bytes)) != nil {}
            socket.shutDown()
            isBack.signal()
        }
        defer {
            upstream.shutDown()
            isBack.wait()
        }
        while true { try upstream.write(try received()) }
    }
}
