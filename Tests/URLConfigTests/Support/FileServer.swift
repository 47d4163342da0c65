@testable import URLConfig

/// A server with one file, of which it sends ranges (RFC 9110 §14), and faults that a test chooses for each request.
struct FileServer: Sendable {
    /// A version of the file.
    struct Version: Sendable {
        let content: Data
        /// The fields that name the version.
        var fields: String
        /// The value of `If-Range` that also names it; `nil` for no strong validator.
        var validator: String?

        /// A version whose bytes and strong entity tag depend on a seed.
        init(_ seed: Int, size: Int) {
            var random = SeededGenerator(seed: UInt64(seed))
            var words = (0..<(size + 7) / 8).map { _ in random.next() }
            content = words.withUnsafeMutableBytes { Data($0.prefix(size)) }
            validator = "\"v\(seed)\""
            fields = "ETag: \"v\(seed)\"\r\n"
        }

        /// The same bytes with other fields; by default none.
        func with(_ fields: String = "", validator: String? = nil) -> Self {
            var version = self
            (version.fields, version.validator) = (fields, validator)
            return version
        }
    }

    /// What the server makes of a request for a range.
    enum Ranges: CaseIterable, Sendable {
        case correct
        /// At most 50,000 bytes at once.
        case short
        /// The range begins earlier than requested.
        case early
        /// The range begins later than requested.
        case late
        case wrongTotal
        /// `Content-Range` says less than there is in the body.
        case tooLong
        case withoutContentRange
        case multipart
        /// 416.
        case refused
        /// 200 with the whole file.
        case ignored
        /// The range is sent although the file has another version.
        case withoutCondition
    }

    /// Where a response breaks off, and how.
    struct Cut: Sendable {
        var count: Int
        var end = FaultServer.Fault.End.close
    }

    struct Response: Sendable {
        var version: Version
        var ranges = Ranges.correct
        var cut: Cut?
    }

    /// - Parameters:
    ///   - number: The number of requests before.
    ///   - request: The request.
    let respond: @Sendable (_ number: Int, _ request: FaultServer.Request) -> Response

    /// Serves the file.
    var fault: FaultServer.Fault {
        .numbered { number, request, connection in
            try Self.send(respond(number, request), to: request, connection)
        }
    }

    /// - Returns: Whether the connection may be used again.
    @discardableResult
    static func send(
        _ response: Response, to request: FaultServer.Request, _ connection: FaultServer.Connection
    ) throws -> Bool {
        let (head, body) = message(response, request)
        try connection.send(head)
        guard let cut = response.cut, cut.count < body.count else {
            try connection.send(body)
            return true
        }
        try connection.send(body.prefix(cut.count))
        try connection.end(cut.end)
        return false
    }

    private static func message(_ response: Response, _ request: FaultServer.Request) -> (head: String, body: Data) {
        let (version, size) = (response.version, response.version.content.count)
        let start = request.field("Range").flatMap { Int($0.drop { !$0.isNumber }.dropLast()) }
        let condition = request.field("If-Range")
        func whole() -> (head: String, body: Data) {
            ("HTTP/1.1 200 OK\r\n\(version.fields)Content-Length: \(size)\r\n\r\n", version.content)
        }
        guard let start, start > 0, response.ranges != .ignored else { return whole() }
        let isSame = condition == nil || condition == version.validator
        guard isSame || response.ranges == .withoutCondition, response.ranges != .refused, start < size else {
            guard response.ranges == .refused || start >= size && isSame else { return whole() }
            return ("HTTP/1.1 416 No\r\nContent-Range: bytes */\(size)\r\nContent-Length: 0\r\n\r\n", Data())
        }
        var range = start..<size
        switch response.ranges {
        case .short: range = start..<min(size, start + 50_000)
        case .early: range = start - 1..<size
        case .late: range = min(start + 1, size - 1)..<size
        default: break
        }
        var last = range.upperBound - 1
        if response.ranges == .tooLong { last = max(start, last - 1) }
        var fields = "Content-Range: bytes \(range.lowerBound)-\(last)/\(size)\r\n"
        if response.ranges == .wrongTotal { fields = "Content-Range: bytes \(start)-\(last)/\(size + 1)\r\n" }
        if response.ranges == .withoutContentRange { fields = "" }
        if response.ranges == .multipart { fields += "Content-Type: multipart/byteranges; boundary=b\r\n" }
        let head = "HTTP/1.1 206 Partial\r\n\(version.fields)\(fields)Content-Length: \(range.count)\r\n\r\n"
        return (head, version.content.subdata(in: range))
    }
}

extension FileServer {
    /// Sends a version, and breaks off the first responses there.
    init(_ version: Version, cuts: [Cut] = []) {
        self.init { number, _ in Response(version: version, cut: number < cuts.count ? cuts[number] : nil) }
    }

    /// Lends the server.
    func serving(_ body: (FaultServer) async throws -> Void) async throws {
        try await FaultServer.serving(fault, body)
    }
}

extension FaultServer.Fault {
    /// Reads requests, and passes them on with the number of the requests before.
    ///
    /// - Parameter respond: Sends a response, and returns whether the connection may be used again.
    static func numbered(
        _ respond: @escaping @Sendable (Int, FaultServer.Request, FaultServer.Connection) throws -> Bool
    ) -> Self {
        let all = Recorder<Void>()
        return .init { connection in
            while true {
                let request = try connection.read()
                guard try respond(all.note(()) - 1, request, connection) else { return }
            }
        }
    }
}

extension FaultServer {
    /// Leaves the first bytes of a version behind in a folder, as an earlier run does.
    ///
    /// - Parameter count: Where the next run continues; there are 64 kB more, which it compares.
    func leavePart(
        _ count: Int = 200_000, of version: FileServer.Version, named fields: HTTPFields? = nil,
        knowsTotal: Bool = true, in folder: DownloadFolder
    ) throws {
        try folder.leavePart(
            version.content.prefix(count + 65_536), named: fields ?? [.eTag: version.validator ?? ""],
            total: knowsTotal ? Int64(version.content.count) : nil, for: request("a.zip"))
    }

    /// Downloads the file, with attempts that do not wait.
    @discardableResult
    func download(
        _ request: URLRequest? = nil, to folder: DownloadFolder, overwrites: Bool = false, attempts: Int = 1,
        isolation: isolated (any Actor)? = #isolation, _ configure: (inout URLSession.Config) -> Void = { _ in }
    ) async throws -> FileResponse {
        let request = request ?? self.request("a.zip")
        return try await session.download(for: request, to: folder.file, overwrites: overwrites, config: .silent) {
            $0.retry = RetryPolicy(attempts: attempts).quick
            configure(&$0)
        }
    }

    /// The values of `Range` in all requests.
    var ranges: [String?] { requests.map { $0.field("Range") } }

    /// Whether the requests were for the bytes from these offsets; `nil` for no `Range`.
    ///
    /// A later call requests the last 64 kB of an earlier one again. AsyncHTTPClient loses bytes that were not read yet
    /// when a connection breaks off. So it may request more.
    func hasRanges(from starts: Int?...) -> Bool {
        guard starts.count == ranges.count else { return false }
        return zip(starts, ranges).allSatisfy { start, range in
            guard let start else { return range == nil }
            if ["bytes=\(start)-", "bytes=\(start - 65_536)-"].contains(range) { return true }
            return TransportOfTests.isAsyncHTTPClient && range.map { $0.starts(with: "bytes=") } ?? true
        }
    }
}

extension DownloadFolder {
    /// Whether the file has these bytes. (A failed comparison of large values in a test takes minutes.)
    func has(_ content: Data) -> Bool { (try? Data(contentsOf: file)) == content }
}
