#if canImport(FoundationNetworking)

/// Checks that the caller's stream is as long as its `Content-Length`; otherwise the exchange fails.
///
/// libcurl sends all bytes of a stream, even if they are more than the `Content-Length`. The server would read the rest
/// as the next request. So libcurl receives the last bytes only after the end of the stream was found.
final class BodyStream: InputStream {
    private let source: InputStream
    private let length: Int64?
    // Weak, because the exchange keeps its task, and the task keeps this stream.
    private weak var exchange: Exchange?
    private var count: Int64 = 0

    /// - Parameter exchange: The exchange that fails if the length is wrong.
    init(_ source: InputStream, length: Int64?, _ exchange: Exchange) {
        self.source = source
        self.length = length
        self.exchange = exchange
        super.init(data: Data())
    }

    override var hasBytesAvailable: Bool { true }

    override func open() {
        super.open()
        source.open()
    }

    override func close() {
        source.close()
        super.close()
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let read = source.read(buffer, maxLength: maxLength)
        guard read >= 0 else { return failToRead() }
        guard let length else { return read }
        count += Int64(read)
        if read == 0, count < length {
            return fail("ends after \(count) of its Content-Length, \(length) bytes")
        }
        var next: UInt8 = 0
        let more = read > 0 && count == length ? source.read(&next, maxLength: 1) : 0
        guard more >= 0 else { return failToRead() }
        guard count + Int64(more) <= length else { return fail("is longer than its Content-Length, \(length) bytes") }
        return read
    }

    private func failToRead() -> Int {
        // Foundation crashes if `streamError` is missing, as in a subclass.
        let hasError = type(of: source) == InputStream.self && source.streamStatus == .error
        return fail("cannot be read" + (hasError ? source.streamError.map { ": \($0.summary)" } ?? "" : ""))
    }

    private func fail(_ reason: String) -> Int {
        exchange?.finish(throwing: RequestError(.invalidRequest, reason: "body: the stream \(reason)"))
        return -1
    }
}

#endif
