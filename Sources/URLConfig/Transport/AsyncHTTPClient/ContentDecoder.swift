#if AsyncHTTPClient

import CURLConfigZlib
import NIOHTTP1

/// Decodes a body with the content coding gzip or deflate (RFC 9110 §8.4.1), in steps of limited size.
///
/// AsyncHTTPClient itself decodes all that it has read at once, and 64 kB may become 64 MB. It also takes a body
/// without a byte, such as the body of a response to HEAD, for one that was cut.
final class ContentDecoder {
    /// The body cannot be decoded.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    fileprivate static let known: Set = ["gzip", "x-gzip", "deflate"]
    /// The most bytes of a step: 64 kB.
    private static let mostAtOnce = 1 << 16

    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutablePointer<UInt8>
    private let coding: String
    private var input = Data()
    /// Whether the first byte has arrived.
    private var isOpen = false
    /// Whether the data is between its header and its end.
    private var isInside = false

    /// - Throws: ``Failure`` for a coding that cannot be decoded, and for more than one.
    init(_ codings: [String]) throws(Failure) {
        coding = codings.joined(separator: ", ")
        guard Self.known.contains(coding) else {
            throw Failure(
                description: "the body has the content coding '\(coding)', which cannot be decoded; if you decode it "
                    + "yourself, name it in Accept-Encoding")
        }
        // zlib keeps the address.
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(capacity: Self.mostAtOnce)
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
        output.deallocate()
    }

    /// Adds bytes of the body.
    func receive(_ bytes: Data) {
        if input.isEmpty { input = bytes } else { input.append(bytes) }
    }

    /// The next decoded bytes; `nil` if more of the body is needed.
    func next() throws(Failure) -> Data? {
        while true {
            if !isInside, try !begin() { return nil }
            let (written, result) = inflateOnce()
            switch result {
            case Z_OK: break
            // There is nothing to do without more input.
            case Z_BUF_ERROR where input.isEmpty: return nil
            case Z_STREAM_END: isInside = false
            default: throw Failure(description: "the body is not valid \(coding)")
            }
            if written > 0 { return Data(bytes: output, count: written) }
        }
    }

    /// - Throws: ``Failure`` if the body ends too early.
    func finish() throws(Failure) {
        guard !isInside, input.isEmpty else {
            throw Failure(description: "the body ends before its \(coding) data do")
        }
    }

    /// Begins with the data, or after their end with another member of gzip (RFC 1952 §2.2).
    ///
    /// - Returns: `false` if there are no bytes.
    private func begin() throws(Failure) -> Bool {
        // After the end there may be zeros, as gzip allows.
        if isOpen { input = input.drop { $0 == 0 } }
        guard let first = input.first else { return false }
        var result = Z_DATA_ERROR
        if !isOpen {
            // Some servers send deflate without the format that RFC 9110 §8.4.1.2 demands. Its first byte is another
            // one.
            let isRaw = coding == "deflate" && first != 0x1F && first & 0x0F != 8
            // Otherwise zlib finds out whether it is its own format or gzip's.
            let windowBits = isRaw ? -MAX_WBITS : MAX_WBITS + 32
            result = inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        } else if first == 0x1F {
            result = inflateReset(stream)
        }
        guard result == Z_OK else { throw Failure(description: "the body is not valid \(coding)") }
        (isOpen, isInside) = (true, true)
        return true
    }

    private func inflateOnce() -> (written: Int, Int32) {
        let (rest, result) = input.withUnsafeBytes { bytes in
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(bytes.count)
            stream.pointee.next_out = output
            stream.pointee.avail_out = UInt32(Self.mostAtOnce)
            let result = inflate(stream, Z_NO_FLUSH)
            return (Int(stream.pointee.avail_in), result)
        }
        input = input.suffix(rest)
        return (Self.mostAtOnce - Int(stream.pointee.avail_out), result)
    }
}

extension ResponseBody {
    /// This body, decoded as it is read, so that little of it is in memory.
    ///
    /// - Parameters:
    ///   - codings: At least one coding.
    ///   - url: The URL of the request.
    func decoding(_ codings: [String], of url: URL?) throws -> ResponseBody {
        let reader = try read()
        // Safe: a body asks for one piece at a time.
        nonisolated(unsafe) var decoder: ContentDecoder?
        return ResponseBody(
            ReceivedBody {
                do {
                    while true {
                        // Decoding does not wait for anything that could be cancelled.
                        try Task.checkCancellation()
                        if let piece = try decoder?.next() { return piece }
                        guard let piece = try await reader.next() else { break }
                        // A body without a byte is not decoded, whatever its coding (RFC 9110 §6.4.1).
                        if decoder == nil { decoder = try ContentDecoder(codings) }
                        decoder?.receive(piece)
                    }
                    try decoder?.finish()
                    return nil
                } catch {
                    throw error.asURLError(url)
                }
            })
    }
}

extension HTTPHeaders {
    /// The codings of a body to decode, in the order in which they were applied (RFC 9110 §8.4, RFC 9112 §7).
    ///
    /// - Parameters:
    ///   - request: If its `Accept-Encoding` names others than gzip and deflate, the caller decodes these.
    ///   - status: The status of the response. A coding that cannot be decoded must not hide an error status.
    func codings(for request: HTTPHeaders, _ status: Int) -> [String] {
        // Most responses have none.
        guard contains(name: "Content-Encoding") || contains(name: "Transfer-Encoding") else { return [] }
        let codings = (self[canonicalForm: "Content-Encoding"] + self[canonicalForm: "Transfer-Encoding"])
            .map { $0.lowercased() }.filter { !["", "identity", "chunked"].contains($0) }
        let isKnown = ContentDecoder.known.isSuperset(of: codings)
        if isKnown, codings.count < 2 { return codings }
        let accepted = request[canonicalForm: "Accept-Encoding"].map {
            $0.prefix { $0 != ";" && $0 != " " }.lowercased()
        }
        let isLeft = !isKnown && (accepted.contains("*") || Set(accepted).isSuperset(of: codings))
        return 200...299 ~= status && !isLeft ? codings : []
    }
}

#endif
