/// Checks that the caller's stream is as long as its `Content-Length`; otherwise it reports an error and fails.
///
/// The server would read what is longer than the `Content-Length` as the next request. So the last bytes are returned
/// only after the end of the stream was found.
final class BodyStream: InputStream {
    private let source: InputStream
    private let length: Int64?
    private let onFailure: (RequestError) -> Void
    private var count: Int64 = 0

    /// - Parameter onFailure: Called if the stream cannot be read or its length is wrong, before `read` returns -1.
    init(_ source: InputStream, length: Int64?, onFailure: @escaping (RequestError) -> Void) {
        self.source = source
        self.length = length
        self.onFailure = onFailure
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
        guard read <= maxLength else { return fail("returned more bytes than there was room for") }
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
        onFailure(RequestError(.invalidRequest, reason: "body: the stream \(reason)"))
        return -1
    }
}
