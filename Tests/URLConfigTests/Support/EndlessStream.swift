import URLConfig

/// A stream whose `read` is this function; its parameter is the room in the buffer, in bytes.
final class EndlessStream: InputStream {
    private let fill: (Int) -> Int

    init(_ fill: @escaping (Int) -> Int) {
        self.fill = fill
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { .open }
    override var hasBytesAvailable: Bool { true }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        buffer.initialize(repeating: 0, count: maxLength)
        return fill(maxLength)
    }
}
