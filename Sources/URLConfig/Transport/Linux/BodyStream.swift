#if canImport(FoundationNetworking)

/// A caller's stream as libcurl reads it: as long as its `Content-Length` says, or the exchange fails.
///
/// libcurl sends all that a stream has, whatever length it was told: the rest of a longer one would be the server's
/// next request. So the last byte is held back until the end behind it has been seen.
final class BodyStream: InputStream {
    private let source: InputStream
    private let length: Int64?
    private let exchange: Exchange
    private var count: Int64 = 0
    private var held: UInt8?

    /// - Parameters:
    ///   - length: The length in bytes; `nil` if it is not known.
    ///   - exchange: Ends with an error if the length is wrong.
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
        while true {
            let read = source.read(buffer, maxLength: maxLength)
            guard read >= 0 else {
                // Foundation crashes if it is asked for the error of a stream that has none, such as a subclass.
                let hasError = type(of: source) == InputStream.self && source.streamStatus == .error
                return fail("cannot be read" + (hasError ? source.streamError.map { ": \($0.summary)" } ?? "" : ""))
            }
            guard let length else { return read }
            count += Int64(read)
            guard count <= length else { return fail("is longer than its Content-Length, \(length) bytes") }
            guard read > 0 else {
                guard count == length else { return fail("ends after \(count) of its Content-Length, \(length) bytes") }
                guard let last = held else { return 0 }
                (buffer[0], held) = (last, nil)
                return 1
            }
            let last = buffer[read - 1]
            defer { held = last }
            guard let first = held else {
                if read == 1 { continue }
                return read - 1
            }
            (buffer + 1).update(from: buffer, count: read - 1)
            buffer[0] = first
            return read
        }
    }

    private func fail(_ reason: String) -> Int {
        exchange.finish(throwing: RequestError(.invalidBody, stage: .executing, reason: "body: the stream \(reason)"))
        return -1
    }
}

#endif
