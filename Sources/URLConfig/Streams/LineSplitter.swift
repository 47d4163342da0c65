/// Splits the chunks of a body into lines, which end with LF, CR or CRLF, as they arrive.
///
/// ```swift
/// var lines = LineSplitter()
/// lines.append(chunk)
/// while let line = try lines.next() { … }
/// ```
///
/// Blank lines are kept, and a byte order mark at the start is removed. Each byte is searched once for either
/// terminator, so the time is linear for chunks and lines of any size. The chunks that were not read, and the start of
/// an unfinished line, are kept in memory.
struct LineSplitter: BodyParser {
    /// The most bytes of a line by default.
    static let standardLimit = 16_000_000

    private let limit: Int
    private let unit: String
    /// Lines that were read, then the next line, then what follows it.
    private var bytes: [UInt8] = []
    /// The start of the next line.
    private var start = 0
    /// There is no LF from the start of the next line up to this place.
    private var lineFeed = 0
    /// There is no CR from the start of the next line up to this place.
    private var carriageReturn = 0
    private var isFirst = true
    /// Whether the last line ended with CR: a line is returned before it is known whether LF follows.
    private var skipsLineFeed = false

    /// - Parameters:
    ///   - limit: The most bytes of a line without its terminator, or of what has arrived of it.
    ///   - unit: The name of what is limited, for the error.
    init(limit: Int = LineSplitter.standardLimit, unit: String = "a line") {
        self.limit = limit
        self.unit = unit
    }

    mutating func append(_ chunk: Data) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 17)
            (start, lineFeed, carriageReturn) = (0, 0, 0)
        } else if start > bytes.count / 2 {
            // Fewer bytes are moved than were read since the last time.
            bytes.removeSubrange(..<start)
            (start, lineFeed, carriageReturn) = (0, lineFeed - start, carriageReturn - start)
        }
        chunk.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    /// The text of the next line; `nil` if its terminator has not arrived.
    ///
    /// U+FFFD replaces bytes that are not UTF-8.
    ///
    /// - Throws: ``RequestError/Code/responseTooLarge`` for a line that is longer than the limit, finished or not.
    mutating func next() throws(RequestError) -> String? {
        guard let line = try nextPlace() else { return nil }
        return bytes.withUnsafeBytes { String(decoding: UnsafeRawBufferPointer(rebasing: $0[line]), as: UTF8.self) }
    }

    /// The bytes of the next line; `nil` if its terminator has not arrived.
    mutating func nextBytes() throws(RequestError) -> Data? { try nextPlace().map { Data(bytes[$0]) } }

    /// The text of the last line, if it has no terminator.
    mutating func end() -> String? {
        guard terminate() else { return nil }
        let text = try? next()
        // It is empty after a byte order mark.
        return text == "" ? nil : text
    }

    /// Terminates the last line; `false` if it is terminated.
    mutating func terminate() -> Bool {
        guard start < bytes.count else { return false }
        bytes.append(UInt8(ascii: "\n"))
        return true
    }

    /// The place of the next line, without its terminator; `nil` if its terminator has not arrived.
    ///
    /// The place is valid until bytes are appended.
    ///
    /// - Parameter size: How many bytes the caller has kept, which are part of the limit.
    mutating func nextPlace(besides size: Int = 0) throws(RequestError) -> Range<Int>? {
        if skipsLineFeed, start < bytes.count {
            skipsLineFeed = false
            if bytes[start] == UInt8(ascii: "\n") { start += 1 }
        }
        bytes.withUnsafeBytes {
            lineFeed = $0.place(of: UInt8(ascii: "\n"), from: max(start, lineFeed))
            carriageReturn = $0.place(of: UInt8(ascii: "\r"), from: max(start, carriageReturn))
        }
        let end = min(lineFeed, carriageReturn)
        guard end - start <= limit - size else {
            throw RequestError(.responseTooLarge, reason: "\(unit) of the body is longer than \(limit.shownAsBytes)")
        }
        guard end < bytes.count else { return nil }
        skipsLineFeed = end == carriageReturn
        var line = start..<end
        if isFirst, bytes[line].starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        (start, isFirst) = (end + 1, false)
        return line
    }

    /// - Parameter reader: Reads the line. A closure that captured it would cost a copy of this splitter.
    @inline(__always)
    func read<Reader>(
        _ line: Range<Int>, with reader: inout Reader, _ read: (inout Reader, UnsafeRawBufferPointer) -> Void
    ) {
        bytes.withUnsafeBytes { read(&reader, UnsafeRawBufferPointer(rebasing: $0[line])) }
    }
}

extension UnsafeRawBufferPointer {
    /// The first place of a byte from a place on, or the end; `memchr` finds it much faster than `firstIndex(of:)`.
    @inline(__always)
    func place(of byte: UInt8, from start: Int = 0) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: self[start...])
        guard let base = rest.baseAddress, let found = memchr(base, Int32(byte), rest.count) else { return count }
        return start + (UnsafeRawPointer(found) - base)
    }
}
