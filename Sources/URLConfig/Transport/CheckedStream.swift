/// Reads a stream, and checks that it is as long as its `Content-Length`.
///
/// The server would read bytes after the `Content-Length` as the next request. So the last bytes are returned only
/// after the end of the stream was found. It is no `InputStream`, because Apple's documentation asks subclasses for
/// more than a stream needs here.
final class CheckedStream {
    private let source: InputStream
    private let length: Int64?
    private var isOpen = false
    private var count: Int64 = 0

    /// - Parameter source: A stream that is not open yet.
    init(_ source: InputStream, length: Int64?) {
        self.source = source
        self.length = length
    }

    func close() { source.close() }

    /// Reads the next bytes; returns their number, 0 at the end.
    ///
    /// - Throws: ``RequestError`` with code ``RequestError/Code/invalidRequest`` if the stream cannot be read or its
    ///   length is wrong.
    func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) throws(RequestError) -> Int {
        if !isOpen { source.open() }
        isOpen = true
        let read = source.read(buffer, maxLength: maxLength)
        guard read >= 0 else { throw unreadable }
        guard read <= maxLength else { throw invalid("returned more bytes than there was room for") }
        guard let length else { return read }
        count += Int64(read)
        if read == 0, count < length {
            throw invalid("ends after \(count) of its Content-Length, \(length) bytes")
        }
        var next: UInt8 = 0
        let more = read > 0 && count == length ? source.read(&next, maxLength: 1) : 0
        guard more >= 0 else { throw unreadable }
        guard count + Int64(more) <= length else {
            throw invalid("is longer than its Content-Length, \(length) bytes")
        }
        return read
    }

    private var unreadable: RequestError {
        // Foundation crashes if `streamError` is missing, as in a subclass.
        let hasError = source.isFoundations && source.streamStatus == .error
        return invalid("cannot be read" + (hasError ? source.streamError.map { ": \($0.summary)" } ?? "" : ""))
    }

    private func invalid(_ reason: String) -> RequestError {
        RequestError(.invalidRequest, reason: "body: the stream \(reason)")
    }
}

#if canImport(FoundationNetworking)

/// A checked stream that Foundation can read; it reports an error and fails.
final class BodyStream: InputStream {
    private let checked: CheckedStream
    private let onFailure: (RequestError) -> Void

    /// - Parameter onFailure: Called if the stream cannot be read or its length is wrong, before `read` returns -1.
    init(_ source: InputStream, length: Int64?, onFailure: @escaping (RequestError) -> Void) {
        checked = CheckedStream(source, length: length)
        self.onFailure = onFailure
        super.init(data: Data())
    }

    override var hasBytesAvailable: Bool { true }

    override func close() {
        checked.close()
        super.close()
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        do throws(RequestError) {
            return try checked.read(buffer, maxLength: maxLength)
        } catch {
            onFailure(error)
            return -1
        }
    }
}

#endif
