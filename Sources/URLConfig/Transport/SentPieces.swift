/// The pieces of a request's body, which are sent once; their number of bytes is checked.
final class SentPieces: Sendable {
    private let reader: ReceivedBody.Reader
    let length: Int64?
    private let count = Locked<Int64>(0)

    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if they were sent.
    init(_ pieces: ResponseBody, length: Int64?) throws {
        guard pieces.canBeRead else { throw RequestError.sentBefore }
        // A sequence of the caller may block, or go on when it is cancelled.
        pieces.received.leavesSourceAlone()
        reader = try pieces.read()
        // As of a stream, a negative length is an unknown one.
        self.length = length.flatMap { $0 < 0 ? nil : $0 }
    }

    /// The next piece; `nil` at the end.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if there are more or fewer bytes than
    ///   the length; the errors of the sequence, and `CancellationError`.
    func next() async throws -> Data? {
        let piece = try await read()
        guard let length else { return piece }
        let count = count.withLock(\.self)
        if piece == nil, count < length { throw invalid("ends after \(count) bytes", length) }
        if count < length || piece == nil { return piece }
        // With the last piece, the server has a complete request. So it is returned after the end was found.
        let isLong = try await count > length ? true : read() != nil
        if isLong { throw invalid("has more bytes", length) }
        return piece
    }

    private func read() async throws -> Data? {
        let piece = try await reader.next()
        if piece == nil { try Task.checkCancellation() }
        count.withLock { $0 += Int64(piece?.count ?? 0) }
        return piece
    }

    private func invalid(_ found: String, _ length: Int64) -> RequestError {
        .refused("body: the sequence \(found), but its length is \(length)")
    }
}

extension RequestError {
    fileprivate static var sentBefore: Self {
        .refused("body: it is for one call, and another call had it; make a new source, or send a file")
    }
}

extension ResponseBody {
    /// The same pieces for one call, which no other call sends or ends.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if another call has them.
    func claimed() throws -> Self {
        guard let reader = try? read() else { throw RequestError.sentBefore }
        return Self(ReceivedBody { try await reader.next() })
    }

    /// A temporary file with all pieces, because `URLSession` cannot wait for them: on Linux, all sessions of the
    /// process would wait.
    ///
    /// A sequence that is silent is given up at the time limit of the request.
    func written(length: Int64?, of request: Transport.Request) async throws -> File {
        let pieces = try SentPieces(self, length: length)
        let (limits, clock) = request.timeLimits(request.session.configuration)
        // While a piece is written, nobody waits for the next one, so that time does not count.
        received.didPassHead()
        received.watch(limits, on: clock, to: request.urlRequest.url)
        let queue = DispatchQueue(label: "URLConfig.sequence", qos: .ofFiles)
        let file = try await queue.run { try File.temporary() }
        while let piece = try await pieces.next() {
            try await queue.run {
                var count: Int64 = 0
                try file.appendTemporarily(piece, count: &count)
            }
        }
        return file
    }
}
