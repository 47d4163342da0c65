/// Splits bytes into lines, which end with LF, CR or CRLF, as the bytes arrive.
///
/// A byte order mark at the start is removed. Each byte is searched once for either terminator, so the time is linear
/// for chunks and lines of any size. In memory are the chunks that were not read, and the start of an unfinished line.
struct LineSplitter: Sendable {
    /// The most bytes of a line by default.
    static let standardLimit = 16_000_000

    private let limit: Int
    private let unit: String
    /// Lines that were read, then the next line, then what follows it.
    private var bytes: [UInt8] = []
    /// The start of the next line.
    private var start = 0
    /// There is no LF between the start of the next line and this place.
    private var lineFeed = 0
    /// There is no CR between the start of the next line and this place.
    private var carriageReturn = 0
    private var isFirst = true
    /// Whether the last line ended with CR: a line is returned before it is known whether LF follows.
    private var skipsLineFeed = false

    /// - Parameters:
    ///   - limit: The most bytes of a line, or of what has arrived of it.
    ///   - unit: The name of what is limited, for the error.
    init(limit: Int, unit: String) {
        self.limit = limit
        self.unit = unit
    }

    mutating func append(_ chunk: Data) {
        if start == bytes.count {
            (bytes, start, lineFeed, carriageReturn) = ([], 0, 0, 0)
        } else if start > bytes.count / 2 {
            // Fewer bytes are moved than were read since the last time.
            bytes.removeSubrange(..<start)
            (start, lineFeed, carriageReturn) = (0, lineFeed - start, carriageReturn - start)
        }
        bytes.append(contentsOf: chunk)
    }

    /// The place of the next line, without its terminator; `nil` if its terminator has not arrived.
    ///
    /// The place is valid until bytes are appended.
    ///
    /// - Parameter size: How many bytes the caller has kept, which are part of the limit.
    mutating func next(besides size: Int = 0) throws(RequestError) -> Range<Int>? {
        skipLineFeed()
        lineFeed = place(of: UInt8(ascii: "\n"), in: lineFeed..<bytes.count)
        carriageReturn = place(of: UInt8(ascii: "\r"), in: carriageReturn..<lineFeed)
        let end = carriageReturn
        guard end - start <= limit - size else {
            throw RequestError(.responseTooLarge, reason: "\(unit) of the body is longer than \(limit.shownAsBytes)")
        }
        guard end < bytes.count else { return nil }
        skipsLineFeed = bytes[end] == UInt8(ascii: "\r")
        return line(to: end, next: end + 1)
    }

    /// The place of the last line if it has no terminator; `nil` if it is empty.
    mutating func end() -> Range<Int>? {
        skipLineFeed()
        let line = line(to: bytes.count, next: bytes.count)
        return line.isEmpty ? nil : line
    }

    func text(_ line: Range<Int>) -> String { withBytes(line) { String(decoding: $0, as: UTF8.self) } }

    @inline(__always)
    func withBytes<Result>(_ line: Range<Int>, _ read: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[line])) }
    }

    private mutating func skipLineFeed() {
        guard skipsLineFeed, start < bytes.count else { return }
        skipsLineFeed = false
        if bytes[start] == UInt8(ascii: "\n") { move(to: start + 1) }
    }

    private mutating func line(to end: Int, next: Int) -> Range<Int> {
        var line = start..<end
        if isFirst, bytes[line].starts(with: [0xEF, 0xBB, 0xBF]) { line = (start + 3)..<end }
        isFirst = false
        move(to: next)
        return line
    }

    private mutating func move(to next: Int) {
        (start, lineFeed, carriageReturn) = (next, max(next, lineFeed), next)
    }

    /// The first place of a byte; the end of the range if it is not there.
    private func place(of byte: UInt8, in range: Range<Int>) -> Int {
        range.lowerBound + withBytes(range) { $0.place(of: byte) ?? $0.count }
    }
}

extension UnsafeRawBufferPointer {
    /// The first place of a byte, which `memchr` finds much faster than `firstIndex(of:)`.
    @inline(__always)
    func place(of byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return UnsafeRawPointer(found) - start
    }
}
