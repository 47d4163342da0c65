@testable import URLConfig

/// Faults of a connection and of a body.
extension FaultServer.Fault {
    /// How a connection ends.
    enum End: Sendable {
        case close
        case reset
        case hang
    }

    /// Responds to one request with this text, valid or not.
    static func raw(_ text: String, then end: End = .close) -> Self {
        Self { connection in
            try connection.read()
            try connection.send(text)
            try connection.end(end)
        }
    }

    /// Responds correctly to every request.
    static func ok(_ text: String) -> Self { repeated(answer(text)) }

    /// Responds to every request with this text, valid or not.
    static func repeated(_ text: String) -> Self {
        Self { connection in
            while true {
                try connection.read()
                try connection.send(text)
            }
        }
    }

    /// Serves the first connections in one way and all others in another.
    static func first(_ count: Int, _ fault: Self, then other: Self) -> Self {
        Self { try ($0.index < count ? fault : other).run($0) }
    }

    /// Closes before it sends a byte.
    static let empty = raw("")

    /// Resets before the response.
    static let reset = raw("", then: .reset)

    /// Speaks another protocol.
    static let garbage = raw("SSH-2.0-OpenSSH_9.2\r\n")

    static let hangBeforeHead = raw("", then: .hang)

    /// Stops after the head, which announces a body of 100 bytes.
    static let hangAfterHead = raw(head(length: 100), then: .hang)

    static let hangInBody = raw(head(length: 100) + "0123456789", then: .hang)

    /// Closes after 10 of 100 bytes.
    static let truncated = raw(head(length: 100) + "0123456789")

    /// Resets after 10 of 100 bytes.
    static let resetInBody = raw(head(length: 100) + "0123456789", then: .reset)

    /// Closes after one chunk of 10 bytes and half of another.
    static let truncatedChunks = raw(chunkedHead + "a\r\n0123456789\r\na\r\n01234")

    /// Closes after a whole chunk, without the last one.
    static let unfinishedChunks = raw(chunkedHead + "a\r\n0123456789\r\n")

    /// A correct response, one byte at a time.
    static func drip(_ text: String, every pause: Duration) -> Self {
        Self { connection in
            try connection.read()
            for byte in answer(text).utf8 {
                try connection.send(CollectionOfOne(byte))
                try connection.pause(pause)
            }
        }
    }

    /// A body without length that ends when the client closes.
    static let endless = Self { connection in
        try connection.read()
        try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: 1 << 16)
        while true { try connection.send(zeros) }
    }

    /// 200 kB that are 200 MB of zeros after decompression.
    static let gzipBomb = Self { connection in
        try connection.read()
        let bomb = try bomb.get()
        try connection.send(head(length: bomb.count, "Content-Encoding: gzip\r\nConnection: close\r\n"))
        try connection.send(bomb)
    }

    /// Each byte is decompressed to nothing, but in a buffer of 16 kB.
    static let emptyBlocks = Self { connection in
        try connection.read()
        try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
        func chunks(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { Array("1\r\n".utf8) + [$0, 13, 10] } }
        try connection.send(chunks([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]))
        let blocks = chunks([0, 0, 0, 0xFF, 0xFF])
        let many = (0..<1000).flatMap { _ in blocks }
        for _ in 0..<60 { try connection.send(many) }
    }

    /// A body without the compression that the head announces.
    static let falseGzip = raw(head(length: 10, "Content-Encoding: gzip\r\n") + "0123456789")

    /// Responds to the first request of a connection and then closes it without an announcement.
    static func closingAfterAnswer(_ text: String) -> Self { raw(answer(text)) }

    /// Responds to the first request of a connection, reads all of the second, and then ends the connection without a
    /// response.
    static func losingSecond(_ end: End = .close) -> Self {
        Self { connection in
            try connection.read()
            try connection.send(answer("{}"))
            try connection.read()
            if end == .reset { try connection.reset() }
        }
    }

    static let chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"

    static func head(length: Int, _ fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(fields)Content-Length: \(length)\r\n\r\n"
    }

    static func answer(_ text: String) -> String { head(length: text.utf8.count) + text }

    /// A redirect of 29 kB, whose body has 30 MB after decompression.
    static let redirectBomb = Self { connection in
        let bomb = try redirectBody.get()
        // A client may use the connection again.
        while true {
            try connection.read()
            try connection.send(
                "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Encoding: gzip\r\n"
                    + "Content-Length: \(bomb.count)\r\n\r\n")
            try connection.send(bomb)
        }
    }

    private static let redirectBody = Result { try Shell.run("head -c 30000000 /dev/zero | gzip -9") }
    private static let bomb = Result { try Shell.run("head -c 200000000 /dev/zero | gzip -9") }
}
