/// A response in a file: its body, and behind it a head.
///
/// When the response is validated, another head is added, and the last one counts. A head is JSON, then its length, its
/// digest and a mark, which have a fixed length together. No byte is ever changed, so that whoever reads the file
/// meanwhile reads the response as it was. A file that was cut, or that another program has changed, is recognized,
/// even if only the body was changed.
struct DiskEntry: Sendable {
    /// The length of all heads at which the file is not used any more.
    static let longestHeads = 1 << 16
    /// The bytes of a body that are read at once.
    static let pieceSize = 1 << 20
    /// The bytes at the end of a file that are read first, with a short body.
    private static let tailSize = 1 << 14
    private static let mark = "URLConfig cache 1\n"
    private static let trailerSize = 32 + mark.utf8.count

    /// The file is no entry, or not as it was written.
    static let broken = SystemError(code: EBADMSG)

    /// What is in a head.
    struct Record: Codable, Sendable {
        /// Identifies the response, also with another head.
        var id = UInt64.random(in: .min ... .max)
        /// The length of the body.
        let length: Int64
        let checksum: UInt64
        var head: StoredResponse.Head

        /// The bytes that follow the body; `nil` if they are too long.
        func encoded() throws -> Data? {
            let json = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
            let digest = Digest(json).value.hexDigits
            let data = Data("\(json)\(UInt64(json.utf8.count).hexDigits)\(digest)\(DiskEntry.mark)".utf8)
            return data.count <= DiskEntry.longestHeads ? data : nil
        }
    }

    let record: Record
    /// In bytes.
    let size: Int64
    /// When it was used last, in nanoseconds since 1970.
    let lastUse: Int64
    /// A long body is read from the open file, which may be removed meanwhile.
    private let source: Source

    private enum Source: Sendable {
        case data(Data)
        case file(File)
    }

    /// Reads the last head of a file.
    ///
    /// - Parameter first: The status of the file, which may be out of date.
    /// - Throws: ``broken``; what the system says.
    init(_ file: File, first: File.Status? = nil) throws {
        let status = try first ?? file.status()
        do {
            self = try Self(file, status)
        } catch let error as SystemError where error == Self.broken {
            // Another call may be adding a head, of which a part was read.
            let next = try file.status()
            guard next.size != status.size else { throw error }
            self = try Self(file, next)
        }
    }

    private init(_ file: File, _ status: File.Status) throws {
        let start = max(0, status.size - Int64(Self.tailSize))
        // Of the bytes that were added since then, nothing is read.
        var tail = try file.bytes(at: start, count: Int(status.size - start))
        let trailer = tail.suffix(Self.trailerSize)
        guard Int64(tail.count) == status.size - start, trailer.count == Self.trailerSize,
            trailer.suffix(Self.mark.utf8.count).elementsEqual(Self.mark.utf8),
            let length = UInt64(hexDigits: trailer.prefix(16)), length <= Self.longestHeads,
            let digest = UInt64(hexDigits: trailer.dropFirst(16).prefix(16))
        else { throw Self.broken }
        let end = status.size - Int64(Self.trailerSize)
        if tail.count < Int(length) + Self.trailerSize {
            tail = try file.bytes(at: max(0, end - Int64(length)), count: Int(length) + Self.trailerSize)
        }
        let json = tail.dropLast(Self.trailerSize).suffix(Int(length))
        guard json.count == Int(length), Digest(String(decoding: json, as: UTF8.self)).value == digest,
            let record = try? Record(json: json, digest: digest), 0...(end - Int64(length)) ~= record.length
        else { throw Self.broken }
        (self.record, size, lastUse) = (record, status.size, status.lastUse)
        source = start == 0 && status.size == tail.count ? .data(Data(tail.prefix(Int(record.length)))) : .file(file)
    }

    /// The length of all heads.
    var heads: Int { Int(size - record.length) }

    /// Opens the body.
    ///
    /// One that fits into one piece is read now, a longer one while the caller reads.
    ///
    /// - Parameter onError: Called if the body cannot be read to its end.
    /// - Throws: `URLError` with code `.cannotOpenFile`.
    func body(onError: @escaping @Sendable () -> Void) throws -> ResponseBody {
        let reader = Locked(Reader(entry: self))
        let next: @Sendable () throws -> Data? = {
            do {
                return try File.attempt(.cannotOpenFile, "a stored response cannot be read") {
                    try reader.withLock { try $0.next() }
                }
            } catch {
                onError()
                throw (error as? URLError)?.withDamageMark ?? error
            }
        }
        if record.length <= Self.pieceSize { return ResponseBody(try next() ?? Data()) }
        return ResponseBody(ReceivedBody { try next() })
    }

    private struct Reader: Sendable {
        let entry: DiskEntry
        private var offset: Int64 = 0
        private var checksum = Checksum()

        init(entry: DiskEntry) { self.entry = entry }

        /// The next piece; `nil` at the end.
        mutating func next() throws -> Data? {
            let length = entry.record.length
            guard offset < length else { return nil }
            let count = Int(min(Int64(DiskEntry.pieceSize), length - offset))
            let piece =
                switch entry.source {
                case .data(let body): body
                case .file(let file): try file.bytes(at: offset, count: count)
                }
            checksum.add(piece)
            offset += Int64(piece.count)
            // A body of any length is checked before its last piece is passed on.
            guard piece.count == count, offset < length || checksum.value == entry.record.checksum else {
                throw DiskEntry.broken
            }
            return piece
        }
    }
}

extension DiskEntry.Record {
    /// The most bytes of JSON whose records are remembered.
    private static let mostKnown = 1 << 20
    /// What was decoded before, by the digest of its JSON: to decode it takes half of the time of a hit.
    private static let known = Locked((records: [UInt64: (json: Data, record: Self)](), size: 0))

    /// Decodes a head.
    ///
    /// - Throws: `DecodingError`.
    fileprivate init(json: Data, digest: UInt64) throws {
        if let known = Self.known.withLock({ $0.records[digest] }), known.json == json {
            self = known.record
            return
        }
        let record = try JSONDecoder().decode(Self.self, from: json)
        Self.known.withLock { known in
            if known.size + json.count > Self.mostKnown { known = ([:], 0) }
            known.records[digest] = (Data(json), record)
            known.size += json.count
        }
        self = record
    }
}

/// Recognizes that bytes are not those that were written.
///
/// The second sum depends on their order. It is much faster than a digest, which nobody but an attacker would need.
struct Checksum: Sendable {
    private var (first, second) = (0 as UInt64, 0 as UInt64)
    /// The bytes of a word that is not complete.
    private var rest = Data()

    mutating func add(_ data: Data) {
        let data = rest.isEmpty ? data : rest + data
        let count = data.count / 8 * 8
        data.withUnsafeBytes { bytes in
            for place in stride(from: 0, to: count, by: 8) {
                first &+= UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                second &+= first
            }
        }
        rest = Data(data.dropFirst(count))
    }

    var value: UInt64 {
        var sum = self
        sum.add(Data(count: 8 - rest.count))
        return sum.first ^ (sum.second << 32 | sum.second >> 32)
    }
}

extension UInt64 {
    private static let digits = Array("0123456789abcdef".utf8)

    /// 16 lowercase digits.
    var hexDigits: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 { digits[index] = Self.digits[Int(self >> (60 - 4 * index) & 15)] }
            return 16
        }
    }

    /// - Parameter digits: 16 lowercase digits; for anything else, it is `nil`.
    init?(hexDigits digits: some Collection<UInt8>) {
        let text = String(decoding: digits, as: UTF8.self)
        guard let value = UInt64(text, radix: 16), value.hexDigits == text else { return nil }
        self = value
    }
}
