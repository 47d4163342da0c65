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
