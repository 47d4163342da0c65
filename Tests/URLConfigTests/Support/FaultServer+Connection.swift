@testable import URLConfig

extension FaultServer {
    /// A request as it arrived.
    struct Request: Sendable {
        /// The request line and the fields, with the empty line.
        var head: String
        var body = Data()

        var bodyText: String { String(decoding: body, as: UTF8.self) }

        /// The value of the first field of that name.
        func field(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.first?.lowercased() == name.lowercased() else { continue }
                return parts.dropFirst().first?.trimmingCharacters(in: .whitespaces)
            }
            return nil
        }
    }

    /// One connection, for the thread that serves it.
    ///
    /// Every call throws `TCPSocket.Failure` when the peer has closed or the server stops.
    final class Connection {
        /// The number of connections that the server accepted before.
        let index: Int
        let socket: TCPSocket
        let record: (Request) -> Void
        private var buffer = Data()

        init(_ socket: TCPSocket, index: Int, record: @escaping (Request) -> Void) {
            self.socket = socket
            self.index = index
            self.record = record
        }

        /// Reads a whole request, with its body.
        ///
        /// If a connection is closed before a request was read, the peer receives a reset.
        @discardableResult
        func read() throws -> Request {
            var request = try head()
            if request.field("Expect") != nil { try send("HTTP/1.1 100 Continue\r\n\r\n") }
            if request.field("Transfer-Encoding") != nil {
                while case let size = try chunkSize(), size > 0 {
                    request.body += try bytes(size)
                    _ = try bytes(2)
                }
                while try bytes(through: "\r\n").count > 2 {}
            } else {
                request.body = try bytes(request.field("Content-Length").flatMap { Int($0) } ?? 0)
            }
            record(request)
            return request
        }

        /// Reads the head of a request, which is not recorded.
        func head() throws -> Request {
            Request(head: String(decoding: try bytes(through: "\r\n\r\n"), as: UTF8.self))
        }

        func send(_ text: String) throws {
            try socket.write(text.utf8)
        }

        func send(_ bytes: some Sequence<UInt8>) throws {
            try socket.write(bytes)
        }

        /// Closes the connection immediately: the peer's next call fails.
        func reset() throws {
            try socket.reset()
        }

        /// Closes the connection: the peer reads what was sent, then the end.
        func close() {
            socket.end()
        }

        func end(_ end: Fault.End) throws {
            switch end {
            case .close: close()
            case .reset: try reset()
            case .hang: try waitForEnd()
            }
        }

        /// Does nothing for a while; incoming data is kept.
        func pause(_ duration: Duration) throws {
            let end = ContinuousClock.now + duration
            while case let rest = ContinuousClock.now.duration(to: end), rest > .zero {
                let milliseconds = Int32((rest / .milliseconds(1)).rounded(.up))
                if try socket.isReadable(within: milliseconds) { try fill() }
            }
        }

        /// The bytes that have arrived, or that arrive next.
        func received() throws -> Data {
            if buffer.isEmpty { try fill() }
            return try bytes(buffer.count)
        }

        /// Does nothing until the peer closes or the server stops; incoming data is lost.
        func waitForEnd() throws {
            while true {
                try fill()
                buffer = Data()
            }
        }

        private func fill() throws {
            let bytes = try socket.read()
            guard !bytes.isEmpty else { throw TCPSocket.Failure(code: ENOTCONN) }
            buffer += bytes
        }

        private func chunkSize() throws -> Int {
            let line = String(decoding: try bytes(through: "\r\n"), as: UTF8.self)
            return Int(line.prefix { $0.isHexDigit }, radix: 16) ?? 0
        }

        private func bytes(through end: String) throws -> Data {
            while true {
                if let end = buffer.range(of: Data(end.utf8)) { return try bytes(end.upperBound - buffer.startIndex) }
                try fill()
            }
        }

        func bytes(_ count: Int) throws -> Data {
            while buffer.count < count { try fill() }
            defer { buffer = Data(buffer.dropFirst(count)) }
            return Data(buffer.prefix(count))
        }
    }
}
