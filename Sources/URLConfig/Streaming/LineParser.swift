/// Makes lines of text from the chunks of a body.
///
/// ```swift
/// var parser = LineParser()
/// parser.append(chunk)
/// while let line = try parser.next() { … }
/// ```
///
/// Lines end with LF, CR or CRLF, and blank lines are kept. The text is UTF-8; a byte order mark at the start is
/// removed, and U+FFFD replaces invalid bytes. The text is made line by line as it is read.
struct LineParser: Sendable {
    private var lines: LineSplitter

    /// - Parameter limit: The most bytes of a line, without its terminator.
    init(limit: Int = LineSplitter.standardLimit) {
        lines = LineSplitter(limit: limit, unit: "a line")
    }

    mutating func append(_ chunk: Data) { lines.append(chunk) }

    /// The next line without its terminator; `nil` if more bytes are needed.
    ///
    /// - Throws: ``RequestError/Code/responseTooLarge`` for a line that is longer than the limit, finished or not.
    mutating func next() throws(RequestError) -> String? { try lines.next().map(lines.text) }

    /// The last line, if the body ends without a terminator; it is called after `next()` returned `nil`.
    mutating func end() -> String? { lines.end().map(lines.text) }
}
